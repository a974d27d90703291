import type { Suite } from '../suite.ts';
import { approved, type FlowOptions, type PushOptions, type VisitOptions } from './requests.ts';
import { callUserinfo, checkUserinfoCall } from './resource.ts';
import { exchange, type SignedIn, signedInWith } from './tokens.ts';

/**
 * Runs a whole sign-in, with all checks of the original conformance suite: pushed request, callback, tokens,
 * ID token, userinfo.
 */
export async function signIn(
  suite: Suite,
  options: FlowOptions & PushOptions & VisitOptions = {},
): Promise<SignedIn> {
  const { changeProof } = options;
  const flow = await approved(suite, options);
  const sent = changeProof === undefined ? {} : { changeProof };
  const signedIn = await signedInWith(flow, await exchange(flow, sent));
  checkUserinfoCall(signedIn, await callUserinfo(signedIn, sent));
  return signedIn;
}
