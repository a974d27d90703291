import type { Sealer } from '../../keys/sealing.ts';

/** Parameters that name the user: nobody but the host has any use for them. */
const hints = ['login_hint', 'id_token_hint'] as const;

type Parameters = { readonly [name: string]: unknown };

const contextOf = (row: string, name: string) => `interaction ${row} ${name}`;

/** The parameters of an authorization request as they are stored: what names the user is sealed, for this row alone. */
export function sealHints(sealer: Sealer, row: string, parameters: Parameters): Parameters {
  return changed(parameters, (text, name) => sealer.seal(text, contextOf(row, name)));
}

/** See {@link sealHints}. @throws UnsealError */
export function openHints(sealer: Sealer, row: string, parameters: Parameters): Parameters {
  return changed(parameters, (text, name) => sealer.open(text, contextOf(row, name)));
}

function changed(parameters: Parameters, change: (text: string, name: string) => string): Parameters {
  const result: Record<string, unknown> = { ...parameters };
  for (const name of hints) {
    const text = parameters[name];
    if (typeof text === 'string') result[name] = change(text, name);
  }
  return result;
}
