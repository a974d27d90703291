"""Verifies deliveries with the class `Webhook` of a library as it is. Prints one result for each, `ok` or the name of the error."""

import base64
import importlib
import json
import sys

library, file = sys.argv[1:]
webhooks = importlib.import_module(library)


def result(delivery) -> str:
    secret = delivery["secret"]
    try:
        # A secret that is not encoded is given as bytes.
        webhook = webhooks.Webhook(secret if secret.startswith("whsec_") else secret.encode())
        webhook.verify(base64.b64decode(delivery["body"]), delivery["headers"])
        return "ok"
    except webhooks.WebhookVerificationError as error:
        return type(error).__name__


with open(file, encoding="utf-8") as deliveries:
    print(json.dumps([result(delivery) for delivery in json.load(deliveries)]))
