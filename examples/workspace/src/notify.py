"""Sends warnings by mail; the queue survives a restart."""
import json
import smtplib


def load_queue(path):
    try:
        with open(path, encoding="utf-8") as f:
            return json.load(f)
    except FileNotFoundError:
        return []


def send_all(queue, host="localhost"):
    # NOTE: one connection for all mails, the harbour's relay limits connections
    with smtplib.SMTP(host) as relay:
        for item in queue:
            relay.send_message(item["message"])
