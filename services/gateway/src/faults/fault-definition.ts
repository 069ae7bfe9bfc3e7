import { domainGroup, faultsGroup, type Names } from '@orch/core/names'

type Schema = Readonly<Record<string, unknown>>

const text = (description: string, rest: Schema = {}): Schema => ({ type: 'string', description, maxLength: 1_000, ...rest })
const whole = (description: string, minimum: number): Schema => ({ type: 'integer', format: 'int64', description, minimum })
const object = (description: string, properties: Readonly<Record<string, Schema>>, rest: Schema = {}): Schema => ({
  ...{ type: 'object', description, properties },
  ...rest,
})

const any = 'The character * matches any characters.'
const scope = text('What ends: the stream of the request, or the whole connection.', { enum: ['stream', 'connection'] })

const match = object('The requests that are hit. Absent members match all.', {
  user: text(`Name of the user, after impersonation. ${any}`),
  agent: text(`The header User-Agent. ${any}`),
  verb: {
    ...{ type: 'array', description: 'Verbs; of paths that are no resource the method in lower case.', maxItems: 20 },
    items: { type: 'string', maxLength: 100 },
  },
  resource: text('Plural, with its group where that matters: deployments.apps.'),
  subresource: text("Name of a subresource; '' is the object itself."),
  namespace: text(`Namespace of the path. ${any}`),
  name: text(`Name in the path. ${any}`),
  path: text(`Path of a request that is about no resource. ${any}`),
  header: {
    ...{ type: 'object', description: `Headers by name. ${any}`, maxProperties: 20 },
    additionalProperties: { type: 'string', maxLength: 1_000 },
  },
  dryRun: { type: 'boolean', description: 'True for dry runs alone, false for all others.' },
  body: {
    ...{ type: 'object', description: 'A part that the body has to have.' },
    'x-kubernetes-preserve-unknown-fields': true,
  },
  outgoing: text(`Calls of the server instead of requests, by kind and name of the called server: webhook/deny.example.com. ${any}`),
})

const cause = object('A cause of the Status.', {
  reason: text('Word for programs.'),
  message: text('Sentence for people.'),
  field: text('Path of the member.'),
})

const effect = object(
  'Fault. Exactly one member is set.',
  {
    delay: object('The answer comes later.', { time: text('Duration, such as 2s, of the clock of the server.') }, { required: ['time'] }),
    refuse: object(
      'A Status is answered, and the request is not served.',
      {
        code: { type: 'integer', format: 'int32', description: 'Code of the answer.', minimum: 400, maximum: 599 },
        retryAfter: whole('Seconds of the header Retry-After.', 0),
        reason: text('Reason of the Status; by default that of the code.'),
        message: text('Message of the Status.'),
        causes: { type: 'array', description: 'Causes of the Status.', items: cause, maxItems: 100 },
        always: { type: 'boolean', description: 'With 409: also for writes that carry no resourceVersion.' },
      },
      { required: ['code'] },
    ),
    cut: object('The connection ends without an answer.', {
      when: text('Before the request is served, or in place of its answer.', { enum: ['before', 'after'] }),
      scope,
    }),
    loseReply: object('The object is written, and the connection ends without an answer.', { scope }),
    hang: object('There is no answer, and the connection stays.', {}),
    truncate: object('The answer breaks off.', { bytes: whole('Bytes of the body that are sent.', 0) }, { required: ['bytes'] }),
    refuseConnection: object('The whole connection ends.', {}),
    blackHole: object('Nothing is read from the connection any more.', {}),
  },
  { minProperties: 1, maxProperties: 1 },
)

const spec = object(
  'The requests, how many of them, and what happens to them.',
  {
    match,
    after: whole('Matching requests that pass first.', 0),
    times: whole('Requests that are hit at most, by each gateway.', 1),
    every: whole('Of so many matching requests one is hit.', 1),
    perSecond: whole('Matching requests that pass in each second; the others are hit.', 0),
    probability: { type: 'number', description: 'From 0 to 1.', minimum: 0, maximum: 1 },
    seed: text('Decides what probability draws.'),
    effect,
  },
  { required: ['effect'] },
)

const status = object('What the gateways report.', {
  hits: whole('Requests that were hit, over all gateways.', 0),
  problem: text('Why the rule is not in force; absent if it is.'),
})

/** The name of the kind in paths. */
export const faultRulesPlural = 'faultrules'
/** The version of the kind. */
export const faultRulesVersion = 'v1'

/** The definition of the kind of faults. */
export function faultDefinition(names: Names): object {
  const version = {
    ...{ name: faultRulesVersion, served: true, storage: true, subresources: { status: {} } },
    additionalPrinterColumns: [
      { name: 'Hits', type: 'integer', jsonPath: '.status.hits', description: 'Requests that were hit.' },
      { name: 'Problem', type: 'string', jsonPath: '.status.problem', description: 'Reason why the rule is not in force.' },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
    schema: {
      openAPIV3Schema: object('A fault that requests meet, for tests of their clients.', { spec, status }, { required: ['spec'] }),
    },
  }
  return {
    apiVersion: `${domainGroup(names, 'apiextensions')}/v1`,
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${faultRulesPlural}.${faultsGroup}`,
      annotations: { [`api-approved.${names.labelDomain}`]: 'unapproved, for tests' },
    },
    spec: {
      group: faultsGroup,
      scope: 'Cluster',
      names: { kind: 'FaultRule', listKind: 'FaultRuleList', plural: faultRulesPlural, singular: 'faultrule' },
      versions: [version],
    },
  }
}
