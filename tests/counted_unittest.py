"""unittest.main() with a closing line that scripts/test counts:
`cases: N passed, N failed, N skipped`."""

import sys
import unittest


def main():
    result = unittest.main(exit=False, verbosity=2).result

    def cases(marked):
        # Several failed subtests are one failed case. What is no TestCase stands for a setUpClass
        # or the like, whose cases did not run and were not counted.
        tests = {getattr(test, "test_case", test) for test in marked}
        return len(tests), sum(1 for test in tests if isinstance(test, unittest.TestCase))

    failed, failed_ran = cases(
        [test for test, _ in result.failures + result.errors] + result.unexpectedSuccesses)
    skipped, skipped_ran = cases([test for test, _ in result.skipped])
    passed = result.testsRun - failed_ran - skipped_ran
    print(f"cases: {passed} passed, {failed} failed, {skipped} skipped", flush=True)
    sys.exit(1 if failed else 0)
