"""What a peer says to a tracker: each request is answered by one reply."""

from .connection import Connection
from .wire import frame, tracker_pb2


class TrackerConnection:
    def __init__(self, identity, endpoint, source=None, before=b""):
        self._connection = Connection(identity, endpoint, source, before=before)

    def ask(self, **body):
        """Sends one TrackerRequest, ask(announce=Announce(...)); its TrackerReply."""
        request = tracker_pb2.TrackerRequest(**body)
        self._connection.send_bytes(frame(request.SerializeToString()))
        return tracker_pb2.TrackerReply.FromString(self._connection.receive_bytes())

    def announce(self, content_id, port=4000, **fields):
        return self.ask(announce=tracker_pb2.Announce(content_id=content_id, listen_port=port,
                                                      peers_wanted=200, **fields))

    def close(self):
        self._connection.close()
