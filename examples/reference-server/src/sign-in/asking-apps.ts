import { createProofs, type SigningKeys } from './proofs.ts';

/** An app that sent somebody here, and the way back to it. */
export interface AskingApp {
  readonly name: string;
  readonly cancelUrl: string;
}

/** See {@link createAskingApps}. */
export type AskingApps = ReturnType<typeof createAskingApps>;

/**
 * Carries the app that asks through the URL of the sign-in page. It is signed together with the return
 * address, so that no other site can put a name on that page or change where its link leads.
 */
export function createAskingApps(keys: SigningKeys) {
  const proofs = createProofs(keys);

  return {
    sealed(returnTo: string, { name, cancelUrl }: AskingApp): string {
      const content = Buffer.from(JSON.stringify([name, cancelUrl])).toString('base64url');
      return `${content}.${proofs.of(returnTo, content)}`;
    },
    /** `null` for what was not signed here, and for no app. */
    opened(returnTo: string, sealed: string): AskingApp | null {
      const [content = '', proof = ''] = sealed.split('.');
      if (!proofs.isOf(proof, returnTo, content)) return null;
      const [name, cancelUrl] = JSON.parse(Buffer.from(content, 'base64url').toString()) as [string, string];
      return { name, cancelUrl };
    },
  };
}
