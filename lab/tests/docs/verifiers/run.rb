# Runs the verifier of the documentation with the deliveries that come as lines; says for each whether it was accepted.

require_relative "webhook"

bytes = ->(digits) { [digits].pack("H*") }
text = ->(digits) { bytes.(digits).force_encoding(Encoding::UTF_8) }

$stdin.each_line(chomp: true) do |line|
  secret, now, body, *headers = line.split(/ /, -1)
  # As Rack has them: without an encoding.
  env = headers.to_h do |header|
    name, value = header.split(":", -1)
    ["HTTP_#{name.upcase.tr("-", "_")}", bytes.(value)]
  end
  event = verify_webhook(bytes.(body), env, text.(secret), now: Integer(now))
  puts "accepted #{event["id"]}"
rescue WebhookRefused
  puts "refused"
end
