"""Calls every operation of a real server with the client that openapi-python-client made, and prints what came."""

import datetime
import json
import sys

from ostiary_api import AuthenticatedClient
from ostiary_api.api.events import list_events, redeliver_event
from ostiary_api.api.keys import whoami
from ostiary_api.api.passports import verify_passport
from ostiary_api.api.payments import create_payment, get_payment, list_payments
from ostiary_api.api.reconciliation import export_reconciliation
from ostiary_api.api.sandbox import (
    answer_inbox_request,
    create_sandbox_event,
    create_sandbox_passport,
    list_inbox_requests,
    take_inbox_requests,
)
from ostiary_api.api.users import find_user, get_user, get_user_by_phone
from ostiary_api.api.webhooks import (
    create_webhook,
    delete_webhook,
    get_webhook,
    list_deliveries,
    list_webhooks,
    recover_webhook,
    update_webhook,
)
from ostiary_api.models import (
    AnswerInboxRequestRequest,
    CreatePaymentRequest,
    CreatePaymentRequestCurrency,
    CreateSandboxEventRequest,
    CreateSandboxEventRequestType,
    CreateSandboxPassportRequest,
    CreateWebhookRequest,
    CreateWebhookRequestEventsItem,
    ListPaymentsStatus,
    RecipientByKid,
    RecoverWebhookRequest,
    RedeliverEventRequest,
    TakeInboxRequestsRequest,
    UpdateWebhookRequest,
    VerifyPassportRequest,
)

base_url, api_key, hook, day = sys.argv[1:5]
client = AuthenticatedClient(base_url=base_url, token=api_key, prefix="", auth_header_name="X-API-Key")
came = {}


def done(operation, answer):
    came[operation] = [int(answer.status_code), type(answer.parsed).__name__]
    return answer.parsed


passport = done(
    "createSandboxPassport", create_sandbox_passport.sync_detailed(client=client, body=CreateSandboxPassportRequest())
)
verified = done(
    "verifyPassport",
    verify_passport.sync_detailed(client=client, body=VerifyPassportRequest(token=passport.token)),
)
assert verified.valid is True and isinstance(verified.issued_at, datetime.datetime)
payment = CreatePaymentRequest(
    amount="125.00", currency=CreatePaymentRequestCurrency.HTG, recipient=RecipientByKid(kid=verified.user.kid)
)
paid = done("createPayment", create_payment.sync_detailed(client=client, body=payment, idempotency_key="order-1017"))
assert paid.failure is None and paid.amount == "125.00"
again = create_payment.sync_detailed(client=client, body=payment, idempotency_key="order-1017")
assert again.parsed.id == paid.id and again.headers["idempotent-replayed"] == "true"
done("getPayment", get_payment.sync_detailed(paid.id, client=client))
page = done(
    "listPayments",
    list_payments.sync_detailed(client=client, limit=1, status=ListPaymentsStatus.PENDING, created_from=paid.created_at),
)
assert [one.id for one in page.data] == [paid.id] and page.next_cursor is None
done("getUser", get_user.sync_detailed(verified.user.kid, client=client))
done("findUser", find_user.sync_detailed(client=client, kid=verified.user.kid))
done("getUserByPhone", get_user_by_phone.sync_detailed("+50900000001", client=client))
exported = done(
    "exportReconciliation", export_reconciliation.sync_detailed(client=client, date=datetime.date.fromisoformat(day))
)
assert exported.summary.final is False
endpoint = done(
    "createWebhook",
    create_webhook.sync_detailed(
        client=client,
        body=CreateWebhookRequest(
            url=hook, events=[CreateWebhookRequestEventsItem("*")], secret="whsec_0123456789abcdef"
        ),
    ),
)
assert endpoint.events == ["*"]
done("listWebhooks", list_webhooks.sync_detailed(client=client))
done("getWebhook", get_webhook.sync_detailed(endpoint.id, client=client))
done("updateWebhook", update_webhook.sync_detailed(endpoint.id, client=client, body=UpdateWebhookRequest(enabled=True)))
event = done(
    "createSandboxEvent",
    create_sandbox_event.sync_detailed(
        client=client, body=CreateSandboxEventRequest(type_=CreateSandboxEventRequestType.WEBHOOK_TEST)
    ),
)
done(
    "redeliverEvent",
    redeliver_event.sync_detailed(event.id, client=client, body=RedeliverEventRequest(endpoint_id=endpoint.id)),
)
told = done("listEvents", list_events.sync_detailed(client=client, after=0, limit=10))
assert told.data[0].type_ == "webhook.test" and told.next_after == 1
queued = done("listDeliveries", list_deliveries.sync_detailed(endpoint.id, client=client, limit=10))
assert queued.data[0].next_attempt_at is not None
done(
    "recoverWebhook",
    recover_webhook.sync_detailed(endpoint.id, client=client, body=RecoverWebhookRequest(since=paid.created_at)),
)
listened = create_webhook.sync_detailed(
    client=client,
    body=CreateWebhookRequest(
        url="inbox:listen", events=[CreateWebhookRequestEventsItem("*")], secret="whsec_0123456789abcdef"
    ),
).parsed
create_sandbox_event.sync_detailed(
    client=client, body=CreateSandboxEventRequest(type_=CreateSandboxEventRequestType.WEBHOOK_TEST)
)
taken = done(
    "takeInboxRequests",
    take_inbox_requests.sync_detailed(listened.id, client=client, body=TakeInboxRequestsRequest(wait_seconds=20)),
)
done(
    "answerInboxRequest",
    answer_inbox_request.sync_detailed(
        taken.data[0].id, client=client, body=AnswerInboxRequestRequest(http_status=200, response="ok")
    ),
)
arrived = done("listInboxRequests", list_inbox_requests.sync_detailed(listened.id, client=client))
assert taken.data[0].id in [one.id for one in arrived.data]
done("deleteWebhook", delete_webhook.sync_detailed(endpoint.id, client=client))
done("whoami", whoami.sync_detailed(client=client))
refused = get_user.sync_detailed("nobody", client=client)
assert refused.status_code == 404 and refused.parsed.code == "not_found"
print(json.dumps(came))
