/**
 * Limits for the cost of slow hashes, read from their encoded form. Requests with a wrong secret of a client
 * make the server compute the client's imported hash, so one that takes seconds or gigabytes would let a
 * stranger stop the server. The limits are several times the defaults of the libraries, and keep a hash near
 * one second and 256 MiB.
 */
const costs = [
  { name: 'bcrypt: cost', form: /^\$2[abxy]?\$(\d+)\$/, atMost: 14 },
  { name: 'argon2: memory in KiB', form: /^\$argon2(?:id|i|d)\$(?:[^$]*[$,])?m=(\d+)/, atMost: 256 * 1024 },
  { name: 'argon2: iterations', form: /^\$argon2(?:id|i|d)\$(?:[^$]*[$,])*t=(\d+)/, atMost: 10 },
  { name: 'scrypt: ln', form: /^\$scrypt\$(?:[^$]*,)?ln=(\d+)/, atMost: 17 },
  { name: 'scrypt: r', form: /^\$scrypt\$(?:[^$]*,)?r=(\d+)/, atMost: 16 },
  { name: 'scrypt: p', form: /^\$scrypt\$(?:[^$]*,)?p=(\d+)/, atMost: 4 },
  { name: 'pbkdf2: iterations', form: /^\$pbkdf2(?:-\w+)?\$(?:i=)?(\d+)/, atMost: 2_000_000 },
] as const;

/** Names the cost parameter of an encoded hash that exceeds its ceiling; `null` if none does or the format is unknown. */
export function excessiveCost(hash: string): string | null {
  for (const { name, form, atMost } of costs) {
    const cost = form.exec(hash)?.[1];
    if (cost !== undefined && Number(cost) > atMost) return `${name} ${cost}, at most ${atMost} is accepted`;
  }
  return null;
}
