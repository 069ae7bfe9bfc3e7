/** The part of a listed answer that may differ from the recorded answer. */
export type DifferingPart =
  /** The printed values in messages. */
  | 'values'
  | 'message'
  /** The code and the reason of a failure. */
  | 'code'
  | 'everything'

/** Cases whose answers differ from the recorded answers for one reason. */
export interface KnownDifference {
  readonly reason: string
  readonly differsIn: DifferingPart
  readonly cases: readonly string[]
}

export const knownDifferences: readonly KnownDifference[] = [
  {
    reason: 'Messages leave out the difference between two objects, which kube-apiserver adds; an immutable value is JSON.',
    differsIn: 'values',
    cases: ['put unchanged Pod pod', 'patch pod env', 'patch pod grace', 'patch pv immutable'],
  },
  {
    reason: 'Answered as 4xx with a reason, where kube-apiserver answers 500 without one.',
    differsIn: 'code',
    cases: [
      'patch dep container no name',
      'patch dep bad directive',
      'patch ssa unknown field',
      'patch ssa type',
      'patch ssa dep dup key',
      'invalid cm rv set',
    ],
  },
  {
    reason: 'CRD-57: a definition has its names and conditions in the answer of its create; there they follow.',
    differsIn: 'everything',
    cases: ['create CustomResourceDefinition ws.xUU.example.com'],
  },
  {
    reason: 'ERR-01, VAL-12: unknown fields of a patch under strict validation are a 400; kube-apiserver answers 422.',
    differsIn: 'everything',
    cases: ['patch dep unknown field strict'],
  },
  {
    reason: 'The root lists the paths of this server.',
    differsIn: 'everything',
    cases: ['misc root'],
  },
  {
    reason: 'EP-25: a deleted ReplicationController is answered with a Status.',
    differsIn: 'everything',
    cases: ['delete ReplicationController rc'],
  },
  {
    reason: 'Items of a list have kind and apiVersion, in the stored version as in others.',
    differsIn: 'everything',
    cases: ['misc deprecated hpa'],
  },
  {
    reason: 'IMP-04: groups without a user are a 400 with a reason, where kube-apiserver answers 500 without one.',
    differsIn: 'everything',
    cases: ['misc impersonate group only'],
  },
  {
    reason: 'A Service that becomes an ExternalName loses internalTrafficPolicy when it is written; there it is left out of what is read.',
    differsIn: 'everything',
    cases: ['patch svc status'],
  },
]
