// Incremental SHA-256, which WebCrypto lacks: an export may be larger than the memory.

/**
 * Computes the constants of SHA-256: the first 32 bits of the fractional parts of a root of each of the first
 * primes (FIPS 180-4, sections 4.2.2 and 5.3.3).
 */
function constants(count: number, root: number): Int32Array {
  const words = new Int32Array(count);
  for (let found = 0, candidate = 2; found < count; candidate += 1) {
    let divisor = 2;
    while (candidate % divisor !== 0) divisor += 1;
    if (divisor === candidate) {
      words[found] = (candidate ** (1 / root) % 1) * 2 ** 32;
      found += 1;
    }
  }
  return words;
}

const rotate = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

/** Incremental computation of a SHA-256 digest (FIPS 180-4). */
export class Sha256 {
  readonly #state = constants(8, 2);
  readonly #round = constants(64, 3);
  readonly #words = new Int32Array(64);
  readonly #block = new Uint8Array(64);
  readonly #view = new DataView(this.#block.buffer);
  #length = 0;

  update(bytes: Uint8Array): this {
    for (let start = 0; start < bytes.length; ) {
      const filled = this.#length % 64;
      const part = bytes.subarray(start, start + 64 - filled);
      this.#block.set(part, filled);
      this.#length += part.length;
      start += part.length;
      if (this.#length % 64 === 0) this.#compress();
    }
    return this;
  }

  /** Returns the SHA-256 digest in lower-case hexadecimal. No more bytes can be added afterwards. */
  hex(): string {
    const bits = this.#length * 8;
    const padding = new Uint8Array(((119 - (this.#length % 64)) % 64) + 9);
    padding[0] = 0x80;
    const view = new DataView(padding.buffer);
    view.setUint32(padding.length - 8, Math.floor(bits / 2 ** 32));
    view.setUint32(padding.length - 4, bits >>> 0);
    this.update(padding);
    return Array.from(this.#state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  #compress(): void {
    const w = this.#words;
    const k = this.#round;
    const state = this.#state;
    for (let t = 0; t < 64; t += 1) {
      if (t < 16) w[t] = this.#view.getInt32(t * 4);
      else {
        const [x, y] = [w[t - 15] as number, w[t - 2] as number];
        const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
        const s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
        w[t] = (w[t - 16] as number) + s0 + (w[t - 7] as number) + s1;
      }
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    for (let t = 0; t < 64; t += 1) {
      const choice = (e & f) ^ (~e & g);
      const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
      const one = (h + s1 + choice + (k[t] as number) + (w[t] as number)) | 0;
      const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
      const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + one) | 0;
      d = c;
      c = b;
      b = a;
      a = (one + two) | 0;
    }
    for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) {
      state[index] = (state[index] as number) + word;
    }
  }
}
