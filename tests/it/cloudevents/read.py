# Reads one message with the library of the CloudEvents project, and prints what that found in it.
import base64
import json
import sys

from cloudevents.core.bindings.amqp import AMQPMessage, from_amqp_event
from cloudevents.core.bindings.http import HTTPMessage, from_http_event
from cloudevents.core.bindings.kafka import KafkaMessage, from_kafka_event

message = json.load(sys.stdin)
headers, body = message["headers"], base64.b64decode(message["body"])
match message["binding"]:
    case "http":
        event = from_http_event(HTTPMessage(headers=headers, body=body))
    case "kafka":
        encoded = {name: value.encode() for name, value in headers.items()}
        event = from_kafka_event(KafkaMessage(headers=encoded, key=None, value=body))
    case "amqp":
        properties = {"content-type": headers.pop("content-type")}
        event = from_amqp_event(AMQPMessage(properties, headers, body))
attributes = {name: value if isinstance(value, str) else value.isoformat() for name, value in event.get_attributes().items()}
json.dump({"attributes": attributes, "data": event.get_data()}, sys.stdout)
