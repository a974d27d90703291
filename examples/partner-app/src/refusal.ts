/** The shop itself says no, whatever the provider would say. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: 'wrong_state';

  constructor(code: Refusal['code'], message: string) {
    super(message);
    this.code = code;
  }
}
