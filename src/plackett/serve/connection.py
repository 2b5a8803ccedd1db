"""One connection: limits on the head of a request, on requests that wait, and on a client that does not read.

By hand: of these limits uvicorn has only the size of the head, with h11, whose requests take .07 ms (30 %) more each.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from plackett.serve.service import Service

#: Largest head of a request (its first line and its headers), in bytes.
_MOST_HEAD = 64 * 1024
#: Most header fields of a request, with the trailers of a chunked body.
_MOST_FIELDS = 128
#: Bytes that a chunked body may take on the wire for each of its own.
_CHUNK_OVERHEAD = 16
#: Seconds within which the head of a request must have arrived.
_HEAD_TIMEOUT = 10.0
#: Requests that may wait in a connection for the answers before them.
_MOST_WAITING = 32
#: A client that is behind must read at least so many bytes in so many seconds.
_LEAST_READ, _READ_TIMEOUT = 64 * 1024, 10.0
#: Seconds for which a connection that was refused is still read from, and what comes is thrown away.
_LINGER = 0.5
#: Seconds that a connection without a request has when the service stops: a request may be under way.
LAST_CALL = 0.5


class Connection(HttpToolsProtocol):
    """Uvicorn's HTTP protocol with the limits that it lacks."""

    _received = 0  # bytes since the request began; not those that came together with the end of the one before
    _of_next = 0  # bytes that count for the next request that begins
    _message_open = False
    _ended = False
    _body = 0  # of these, bytes of the body
    _head = _fields = 0  # bytes and number of the header fields, trailers of a chunked body included
    _head_open = True  # from the first byte on, until the headers are complete
    _refusal: tuple[str, str] | None = None  # status and reason, while the parser gives up
    _last_answer: tuple[str, str] | None = None  # what is said when the answers before it are sent
    _unread = 0  # bytes of answers that the client had not taken when it was looked at last
    _timer: asyncio.TimerHandle | None = None
    _reader_timer: asyncio.TimerHandle | None = None

    @property
    def _service(self) -> Service:
        app = self.config.app
        assert isinstance(app, Service)
        return app

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=1, low=0)  # whatever the client has not taken counts as unread
        self._wait_for_head()
        if self._service.stopping:
            self.shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        """End what waits for the client."""
        self._cancel()
        self._cancel_reader()
        self.pipeline.clear()
        super().connection_lost(exc)

    # ------------------------------------------------------------------------------------------------ requests

    def data_received(self, data: bytes) -> None:
        """Count what is not the body, and read it."""
        if self._ended:
            return
        self._received += len(data)
        self._of_next = 0 if self._message_open else len(data)
        super().data_received(data)
        if self._ended or self.transport.is_closing():
            return
        # whatever is not the body: a field that is not complete, trailers, extensions of chunks
        if self._received - _CHUNK_OVERHEAD * self._body > _MOST_HEAD:
            self._end("431 Request Header Fields Too Large", f"the headers take more than {_MOST_HEAD} bytes")
        elif self._timer is None and (self._head_open or self.cycle is None or self.cycle.response_complete):
            self._wait_for_head()  # also after empty lines between requests, which do not begin a message

    def on_message_begin(self) -> None:
        """Count anew: what came with the end of the request before belongs to this one."""
        self._head_open = self._message_open = True
        self._received, self._of_next = self._of_next, 0
        self._body = self._head = self._fields = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Count the address."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a field."""
        self._fields += 1
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def _count(self, n: int) -> None:
        self._head += n
        if self._fields > _MOST_FIELDS:
            self._refuse("431 Request Header Fields Too Large", f"there are more than {_MOST_FIELDS} header fields")
        elif self._head > _MOST_HEAD:
            self._refuse("431 Request Header Fields Too Large", f"the headers take more than {_MOST_HEAD} bytes")

    def on_headers_complete(self) -> None:
        """Answer the request, unless too many wait."""
        if len(self.pipeline) >= _MOST_WAITING:
            self._refuse("429 Too Many Requests", f"more than {_MOST_WAITING} requests wait in this connection")
        self._head_open = False
        self._cancel()
        super().on_headers_complete()
        if self._service.stopping:
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        """Count a part of the body."""
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request has arrived."""
        self._message_open = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Go on with the requests that wait, or say why nothing more is read."""
        last = not self.pipeline
        super().on_response_complete()
        if self.pipeline:
            self.flow.pause_reading()  # those that wait come first
        elif last and self._last_answer is not None and not self.transport.is_closing():
            self._end(*self._last_answer)

    # -------------------------------------------------------------------------------------------- slow readers

    def pause_writing(self) -> None:
        """The client is behind: look at what it takes."""
        super().pause_writing()
        self._look_again()

    def resume_writing(self) -> None:
        """The client has taken everything."""
        self._cancel_reader()
        super().resume_writing()

    def _look_again(self) -> None:
        self._unread = self.transport.get_write_buffer_size()
        self._reader_timer = self.loop.call_later(_READ_TIMEOUT, self._check_reader)

    def _check_reader(self) -> None:
        if self.transport.get_write_buffer_size() > self._unread - _LEAST_READ:
            self.transport.abort()
        else:
            self._look_again()

    def _cancel_reader(self) -> None:
        if self._reader_timer is not None:
            self._reader_timer.cancel()
            self._reader_timer = None

    # ----------------------------------------------------------------------------------------------------- end

    def shutdown(self) -> None:
        """Answer what was asked, and whoever asks at this moment."""
        if self.cycle is None or self.cycle.response_complete:
            self.loop.call_later(LAST_CALL, self._close_idle)
        else:
            super().shutdown()

    def _close_idle(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()

    def _refuse(self, status: str, reason: str) -> None:
        self._refusal = status, reason
        raise ValueError(reason)  # ends the parser, which calls send_400_response

    def send_400_response(self, msg: str) -> None:
        """Called by uvicorn when the parser gives up."""
        self._end(*(self._refusal or ("400 Bad Request", "this is not an HTTP request")))

    def _wait_for_head(self) -> None:
        self._timer = self.loop.call_later(_HEAD_TIMEOUT, self._too_slow)

    def _too_slow(self) -> None:
        self._timer = None
        if self._ended or self.transport.is_closing():
            return
        if self.cycle is not None and not self.cycle.response_complete:  # the answer before it comes first
            self._wait_for_head()
        else:
            self._end("408 Request Timeout", f"the headers did not arrive within {_HEAD_TIMEOUT:g} seconds")

    def _end(self, status: str, reason: str) -> None:
        """Say why the connection ends, after the answers to the requests before; nothing more is read."""
        self._cancel()
        if not self._ended and self._others_before():
            self._last_answer = status, reason
            self._ended = True
            return
        self._ended = True
        body = f'{{"error":"{reason}"}}'
        head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        self.transport.write(f"{head}connection: close\r\n\r\n{body}".encode())
        if self.transport.can_write_eof():  # closed with data unread, it would be reset before the answer
            self.transport.write_eof()
            self._timer = self.loop.call_later(_LINGER, self.transport.close)
        else:
            self.transport.close()

    def _others_before(self) -> bool:
        """Whether requests before the one that cannot be read are still to be answered."""
        if self._message_open and not self._head_open:  # its body cannot be read, and its head was accepted
            if self.pipeline:
                self.pipeline.popleft()
                return True
            return False
        return self.cycle is not None and not self.cycle.response_complete

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
