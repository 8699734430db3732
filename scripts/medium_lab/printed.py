"""What others print of the decoder: the paper (Briffa 2014), as far as its text says it in numbers,
and the decoder's specification, whose figures are a prototype's. Curves that the paper only draws are
not guessed."""

# Each: a key, by which paper.py finds ours; where it stands; what it says.
PAPER = [
    ("batch_over_individual", "III-A, fig. 1",
     "one core, batch over individual lattices: more than 10 times over a wide range of N and q, more "
     "for poorer channels"),
    ("gamma_share", "VI-A, fig. 5, p = 1e-3, q = 32",
     "one core: gamma takes over 75 % of the time for moderate to large N"),
    ("gamma_share_q", "VI-A, fig. 6, p = 1e-3, N = 210",
     "one core: the share of gamma grows with q"),
    ("gamma_per_node", "VI-B, fig. 7, p = 1e-3, q = 32",
     "one core: the time of gamma for each lattice node does not depend on N"),
    ("storage_1gib", "IV-B, fig. 2, N = 210",
     "global storage reaches 1 GiB at moderate to low error rates for larger alphabets, at high ones "
     "for moderate alphabets"),
    ("storage_local", "VII-C, N = 840, n = 20, q = 1024, p = 0.1",
     "local storage: a little over 1 GiB"),
    ("reach_02", "VII-C, M_tau up to 1024, P_r = 1e-10", "p = 0.2: frames of about 12,000 bits"),
    ("reach_04", "VII-C, M_tau up to 1024, P_r = 1e-10", "p = 0.4: frames of about 4,000 bits"),
    ("gpu_speedup", "VII-A, fig. 15, VIII, p = 1e-3",
     "device over one core, same algorithm: more than 100 times at best; at the smallest N the core "
     "is faster"),
    ("gpu_local", "VII-A, fig. 15",
     "local storage is slower than global, and practically as fast for larger q"),
    ("gpu_throughput", "VII-C, fig. 17, N = 840, p = 1e-3", "devices reach 100 kbit/s"),
    ("cpu_throughput", "VII-C, fig. 17, N = 840, p = 1e-3",
     "one core is clearly too slow for real time, except at low throughput"),
]

# The specification's table C: books, n, q, N, p, P_s, symbol error rate, information a symbol.
ERROR_RATES = [
    ("random", 10, 32, 210, 1e-3, 0, 1.9e-3, 4.995),
    ("random", 10, 32, 210, 1e-2, 0, 2.35e-2, 4.925),
    ("random", 10, 32, 210, 3e-2, 0, 9.9e-2, 4.60),
    ("indel4", 10, 32, 210, 1e-3, 0, 5.8e-5, 5.000),
    ("indel4", 10, 32, 210, 1e-2, 0, 6.1e-3, 4.977),
    ("indel4", 10, 32, 210, 3e-2, 0, 5.8e-2, 4.75),
    ("marker", 10, 32, 210, 1e-3, 0, 9.1e-3, None),
    ("marker", 10, 32, 210, 1e-2, 0, 9.1e-2, None),
    ("marker", 10, 32, 210, 3e-2, 0, 0.25, None),
    ("indel4", 8, 16, 510, 1e-3, 0, 6.9e-5, None),
    ("indel4", 8, 16, 510, 3e-3, 0, 5.1e-4, None),
    ("indel4", 8, 16, 510, 1e-2, 0, 5.5e-3, 3.980),
    ("indel4", 8, 16, 510, 2e-2, 0, 2.3e-2, None),
    ("indel4", 8, 16, 510, 3e-2, 0, 5.1e-2, None),
    ("indel4", 8, 16, 510, 1e-2, 1e-2, 2.9e-2, None),
    ("random", 8, 16, 510, 1e-3, 0, 2.7e-3, None),
    ("random", 8, 16, 510, 1e-2, 0, 2.9e-2, None),
    ("random", 8, 16, 510, 3e-2, 0, 0.108, None),
    ("indel6", 12, 16, 510, 1e-2, 0, 2.7e-4, None),
    ("indel6", 12, 16, 510, 3e-2, 0, 7.5e-3, None),
    ("indel6", 12, 16, 510, 5e-2, 0, 3.3e-2, None),
    ("indel6", 12, 16, 510, 1e-1, 0, 0.24, None),
    ("indel4", 16, 256, 255, 1e-2, 0, 5.8e-3, None),
    ("indel4", 14, 256, 255, 1e-2, 0, 1.2e-2, None),
    ("indel4", 10, 64, 210, 1e-2, 0, 1.3e-2, None),
]

# D: n = 8, q = 16, N = 510, true p = 1e-2, decoded as: symbol error rate.
MISMATCH = [(1e-2, 5.55e-3), (3e-3, 5.63e-3), (3e-2, 5.62e-3)]

# E: n = 8, q = 16, frames back to back; p, lookahead, symbol error rate. No frame is broken.
STREAMS = [(1e-2, 0, 5.5e-3), (1e-2, 8, 5.5e-3), (1e-2, 16, 5.5e-3), (3e-2, 0, 5.2e-2),
           (3e-2, 8, 5.2e-2), (3e-2, 16, 5.2e-2)]

# F: RS(255, 255 - parity) behind n = 8, q = 16, N = 510: p, certainty below which a byte is erased,
# parity, share of the frames lost, the same without erasures. 4,000 frames, at p = 3e-2 400. None: not
# printed; 0: none seen.
REED_SOLOMON = [
    (3e-3, 0.7, 8, 0, None),
    (1e-2, 0.7, 8, 0.15, 0.14), (1e-2, 0.7, 12, 0.014, 0.029), (1e-2, 0.7, 16, 8e-4, 2.7e-3),
    (1e-2, 0.7, 20, 0, 3e-4),
    (2e-2, 0.5, 32, 0.024, None), (2e-2, 0.5, 48, 0, None),
    (3e-2, 0.5, 48, 0.22, None), (3e-2, 0.5, 64, 0.015, None), (3e-2, 0.5, 89, 0, None),
]
