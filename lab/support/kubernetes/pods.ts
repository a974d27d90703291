import { parseAllDocuments } from 'yaml';
import { z } from 'zod';

const container = z.object({
  image: z.string(),
  command: z.array(z.string()).optional(),
  env: z.array(z.object({ name: z.string(), value: z.string() })),
  securityContext: z.object({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  volumeMounts: z.tuple([z.object({ name: z.string(), mountPath: z.string(), readOnly: z.literal(true) })]),
});

const pod = z.object({
  automountServiceAccountToken: z.literal(false),
  enableServiceLinks: z.literal(false),
  terminationGracePeriodSeconds: z.number().optional(),
  securityContext: z.object({
    runAsNonRoot: z.literal(true),
    runAsUser: z.number().optional(),
    runAsGroup: z.number().optional(),
  }),
  containers: z.tuple([container]),
  // The only volume holds secrets; there is none that could be written to.
  volumes: z.tuple([
    z.object({
      name: z.string(),
      projected: z.object({
        defaultMode: z.number(),
        sources: z.array(
          z.object({
            secret: z.object({
              name: z.string(),
              items: z.array(z.object({ key: z.string(), path: z.string() })),
            }),
          }),
        ),
      }),
    }),
  ]),
});

const workload = z.object({
  kind: z.enum(['Deployment', 'Job']),
  metadata: z.object({ name: z.string() }),
  spec: z.object({ template: z.object({ spec: pod }) }),
});

/** Pod of a Deployment or Job, with the members on which the start of its container depends. */
export type Pod = z.infer<typeof pod> & { readonly name: string; readonly isJob: boolean };

/** Parses the Kubernetes objects of a text with YAML manifests. */
export const objectsOf = (yaml: string): readonly { readonly kind: string }[] =>
  parseAllDocuments(yaml)
    .map((document) => document.toJS())
    .filter((object) => object !== null);

/** Returns the pods of all Deployments and Jobs. Fails if one has more rights than the server needs. */
export const podsOf = (yaml: string): readonly Pod[] =>
  objectsOf(yaml)
    .filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
    .map((object) => workload.parse(object))
    .map(({ kind, metadata: { name }, spec }) => ({ name, isJob: kind === 'Job', ...spec.template.spec }));

/** Returns the environment of the container of a pod. */
export const environmentOf = ({ containers: [{ env }] }: Pod): Record<string, string> =>
  Object.fromEntries(env.map(({ name, value }) => [name, value]));
