import { createProofs, type SigningKeys } from './proofs.ts';

/** App that sent the user to the sign-in page, and the URL that leads back to it. */
export interface AskingApp {
  readonly name: string;
  readonly cancelUrl: string;
}

/** Functions that sign and verify the URL parameter which names the app; see {@link createAskingApps}. */
export type AskingApps = ReturnType<typeof createAskingApps>;

/**
 * Creates the functions that pass the name of the requesting app in the URL of the sign-in page. The
 * parameter is signed together with the return URL, so that other sites can neither put a name on that page
 * nor change the target of its link.
 */
export function createAskingApps(keys: SigningKeys) {
  const proofs = createProofs(keys);

  return {
    sealed(returnTo: string, { name, cancelUrl }: AskingApp): string {
      const content = Buffer.from(JSON.stringify([name, cancelUrl])).toString('base64url');
      return `${content}.${proofs.of(returnTo, content)}`;
    },
    /**
     * Returns the app in a signed parameter; `null` if the parameter is missing or has no valid signature.
     */
    opened(returnTo: string, sealed: string): AskingApp | null {
      const [content = '', proof = ''] = sealed.split('.');
      if (!proofs.isOf(proof, returnTo, content)) return null;
      const [name, cancelUrl] = JSON.parse(Buffer.from(content, 'base64url').toString()) as [string, string];
      return { name, cancelUrl };
    },
  };
}
