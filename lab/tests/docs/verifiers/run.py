"""Runs the verifier of the documentation with the deliveries that come as lines; says for each whether it was accepted."""
import sys
from email.message import Message

from webhook import verify


def text(digits: str) -> str:
    return bytes.fromhex(digits).decode()


for line in sys.stdin:
    secret, now, body, *given = line.rstrip("\n").split(" ")
    headers = Message()
    for header in given:
        name, value = header.split(":")
        headers[name] = text(value)
    try:
        print("accepted", verify(bytes.fromhex(body), headers, text(secret), int(now))["id"])
    except ValueError:
        print("refused")
