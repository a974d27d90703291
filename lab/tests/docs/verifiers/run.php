<?php

// Runs the verifier of the documentation with the deliveries that come as lines; says for each whether it was accepted.

declare(strict_types=1);

require __DIR__ . '/webhook.php';

// What PHP only warns of is a fault of the verifier.
set_error_handler(static fn (int $level, string $message) => throw new ErrorException($message));

while (($line = fgets(STDIN)) !== false) {
    [$secret, $now, $body, $headers] = explode(' ', rtrim($line, "\n"), 4);
    $server = [];
    foreach (explode(' ', $headers) as $header) {
        [$name, $value] = explode(':', $header);
        $server['HTTP_' . strtoupper(strtr($name, '-', '_'))] = hex2bin($value);
    }
    try {
        $event = verify_webhook(hex2bin($body), $server, hex2bin($secret), (int) $now);
        echo "accepted {$event['id']}\n";
    } catch (UnexpectedValueException) {
        echo "refused\n";
    }
}
