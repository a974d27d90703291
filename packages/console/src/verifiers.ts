import { verifierSources } from './verifiers.built-in.ts';

/** Name of a webhook verifier in URLs. */
export type VerifierName = keyof typeof verifierSources;

/** A webhook verifier to copy: its code, and how to install and call it. */
export interface Verifier {
  /** Name of the framework or language of the verifier. */
  readonly label: string;
  /** Command or lines that add the packages that the verifier needs; `null` if it needs none. */
  readonly install: string | null;
  /** Code that calls the verifier, by framework. Empty if the source contains the call. */
  readonly calls: readonly (readonly [framework: string, call: string])[];
}

const javaScript = { install: 'npm install @ostiary/webhook-verifier', calls: [] };

/** Webhook verifiers in the order in which pages list them. */
export const verifiers: Readonly<Record<VerifierName, Verifier>> = {
  express: { label: 'Express', ...javaScript },
  nextjs: { label: 'Next.js', ...javaScript },
  fastify: { label: 'Fastify', ...javaScript },
  hono: { label: 'Hono', ...javaScript },
  python: {
    label: 'Python',
    install: null,
    calls: [
      ['Flask', 'verify(request.get_data(), request.headers, os.environ["WEBHOOK_SECRET"])'],
      ['Django', 'verify(request.body, request.headers, os.environ["WEBHOOK_SECRET"])'],
      ['FastAPI', 'verify(await request.body(), request.headers, os.environ["WEBHOOK_SECRET"])'],
    ],
  },
  go: {
    label: 'Go',
    install: null,
    calls: [
      [
        'net/http',
        'body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))\nevent, err := webhook.Verify(body, r.Header.Get, os.Getenv("WEBHOOK_SECRET"), time.Now())',
      ],
    ],
  },
  php: {
    label: 'PHP',
    install: null,
    calls: [
      ['PHP', "verify_webhook(file_get_contents('php://input'), $_SERVER, getenv('WEBHOOK_SECRET'))"],
      [
        'Laravel, Symfony',
        "verify_webhook($request->getContent(), $request->server->all(), getenv('WEBHOOK_SECRET'))",
      ],
    ],
  },
  ruby: {
    label: 'Ruby',
    install: null,
    calls: [
      ['Rails', 'verify_webhook(request.raw_post, request.env, ENV.fetch("WEBHOOK_SECRET"))'],
      ['Sinatra', 'verify_webhook(request.body.read, request.env, ENV.fetch("WEBHOOK_SECRET"))'],
    ],
  },
  java: {
    label: 'Java',
    install:
      '<dependency>\n  <groupId>com.fasterxml.jackson.core</groupId>\n  <artifactId>jackson-databind</artifactId>\n  <version>2.18.2</version>\n</dependency>',
    calls: [
      ['Spring', 'Webhook.verify(body, request::getHeader, System.getenv("WEBHOOK_SECRET"), Instant.now())'],
    ],
  },
  rust: {
    label: 'Rust',
    install: '[dependencies]\nhex = "0.4"\nhmac = "0.13"\nserde_json = "1"\nsha2 = "0.11"',
    calls: [['axum', 'verify(&body, |name| headers.get(name)?.to_str().ok(), &secret, now)']],
  },
};

/** Checks whether a parameter of a URL is the name of a verifier. */
export const isVerifier = (name: string | null): name is VerifierName =>
  name !== null && Object.hasOwn(verifiers, name);

/** Returns the source code of a webhook verifier for an installation with this prefix in its header names. */
export function verifierSource(name: VerifierName, prefix: string): string {
  const source = verifierSources[name];
  if (prefix === 'svc') return source;
  return source
    .replaceAll('X-SVC-', `X-${prefix.toUpperCase()}-`)
    .replaceAll('HTTP_X_SVC_', `HTTP_X_${prefix.toUpperCase()}_`)
    .replaceAll('process.env.WEBHOOK_SECRET }', `process.env.WEBHOOK_SECRET, prefix: '${prefix}' }`);
}
