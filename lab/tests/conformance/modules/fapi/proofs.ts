import * as oauth from 'oauth4webapi';
import { expectError } from '../../support/fapi/checks.ts';
import { approved, type Change, newFlow, push, thumbprint } from '../../support/fapi/requests.ts';
import { signIn } from '../../support/fapi/sign-in.ts';
import { exchange } from '../../support/fapi/tokens.ts';
import { type Module, module } from '../module.ts';

/** Changes the time of a DPoP proof by some seconds. */
const shifted =
  (seconds: number): Change =>
  (_header, claims) => {
    claims.iat = Number(claims.iat) + seconds;
  };

/** Adds further time claims (such as `exp`) to a DPoP proof. */
const withOtherTimes: Change = (_header, claims) => {
  Object.assign(claims, { nbf: claims.iat, exp: Number(claims.iat) + 300 });
};

/** Makes a key pair, and the `dpop_jkt` of another key pair. */
async function mismatched() {
  const [keys, other] = [await oauth.generateKeyPair('ES256'), await oauth.generateKeyPair('ES256')];
  return { keys, parameters: { dpop_jkt: await thumbprint(other) } };
}

/** Conformance modules about DPoP proofs, and about authorization codes that are bound to a DPoP key. */
export const proofs: readonly Module[] = [
  module(
    'fapi2-security-profile-final-check-dpop-proof-nbf-exp',
    'proofs may have `nbf` and `exp`',
    (suite) => signIn(suite, { changeProof: withOtherTimes }),
  ),
  module(
    'fapi2-security-profile-final-ensure-dpopproof-with-iat-10seconds-before-succeeds',
    'proofs that are 10 seconds old are accepted at all endpoints',
    (suite) => signIn(suite, { withProof: true, changeProof: shifted(-10) }),
  ),
  module(
    'fapi2-security-profile-final-ensure-dpopproof-with-iat-10seconds-after-succeeds',
    'proofs from a clock that is 8 seconds fast are accepted at all endpoints',
    (suite) => signIn(suite, { withProof: true, changeProof: shifted(8) }),
    { note: 'the original says 10 seconds, and sends 8, because of slow networks' },
  ),
  module(
    'fapi2-security-profile-final-ensure-mismatched-dpop-jkt-fails',
    'a pushed request whose `dpop_jkt` is not the key of its proof is refused',
    async (suite) => {
      const flow = await newFlow(suite, await mismatched());
      await expectError(await push(flow, { withProof: true }), 'invalid_request', 'invalid_dpop_proof');
    },
  ),
  module(
    'fapi2-security-profile-final-ensure-token-endpoint-fails-with-mismatched-dpop-proof-jkt',
    'a code whose request was pushed with a proof is refused with a proof of another key',
    async (suite) => {
      const flow = await approved(suite, { withProof: true });
      const response = await exchange(flow, { keys: await oauth.generateKeyPair('ES256') });
      await expectError(response, 'invalid_request', 'invalid_grant', 'invalid_dpop_proof');
    },
  ),
  module(
    'fapi2-security-profile-final-ensure-token-endpoint-fails-with-mismatched-dpop-jkt',
    'a code whose request had a `dpop_jkt` is refused with a proof of another key',
    async (suite) => {
      const response = await exchange(await approved(suite, await mismatched()));
      await expectError(response, 'invalid_request', 'invalid_grant', 'invalid_dpop_proof');
    },
  ),
  module(
    'fapi2-security-profile-final-ensure-dpopproof-at-par-endpoint-binding-success',
    'a whole sign-in with a proof of one key at all endpoints',
    (suite) => signIn(suite, { withProof: true }),
  ),
  module(
    'fapi2-security-profile-final-ensure-dpop-auth-code-binding-success',
    'a whole sign-in with `dpop_jkt` and a proof of one key at all endpoints',
    async (suite) => {
      const keys = await oauth.generateKeyPair('ES256');
      const parameters = { dpop_jkt: await thumbprint(keys) };
      return signIn(suite, { keys, parameters, withProof: true });
    },
  ),
];
