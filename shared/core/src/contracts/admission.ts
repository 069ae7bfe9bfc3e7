import type { Status } from '../meta/status.ts'
import { contract, type Service, stream, unary } from './contract.ts'
import { bool, double, int64, json, many, message, nested, optional, type Static, string, stringMap, variants } from './message.ts'
import { condition } from './storage.ts'

const userMessage = message({
  name: string(1),
  uid: string(2),
  groups: many(string(3)),
  extra: json<Readonly<Record<string, readonly string[]>>>(4),
})
export type User = Static<typeof userMessage>

/** The conversion webhook of a custom kind, as its definition has it. */
interface AttributesConversion {
  readonly definition: string
  readonly clientConfig: Readonly<Record<string, unknown>>
  readonly reviewVersions: readonly string[]
}

/** A request, as every plugin sees it. */
const attributes = message({
  /** `CREATE`, `UPDATE`, `DELETE` or `CONNECT`. */
  operation: string(1),
  group: string(2),
  /** Version of the request; `object` and `oldObject` are in it, unless a subresource has a kind of its own. */
  version: string(3),
  kind: string(4),
  resource: string(5),
  subresource: string(6),
  namespace: string(7),
  name: string(8),
  /** The new object; absent for DELETE. Never changed in place. */
  object: json<unknown>(9),
  /** The live object; absent for CREATE. */
  oldObject: json<unknown>(10),
  options: json<unknown>(11),
  user: nested(12, userMessage),
  dryRun: bool(13),
  /** Id of the client's request; the client may have chosen it. */
  requestId: string(14),
  /** Id of one write, made by the gateway; all its attempts have the same. */
  writeId: string(15),
  /** Ways to the same objects that the gateway does not serve, each as `group/version/resource`. Absent: none. */
  unserved: optional(json<readonly string[]>(16)),
  /** Other versions of a custom kind that the gateway serves. Absent: none. */
  otherVersions: optional(json<readonly string[]>(17)),
  /** The converter of its objects between them; absent if a new `apiVersion` is enough. */
  conversion: optional(json<AttributesConversion>(18)),
})
export type Attributes = Static<typeof attributes>

/** An access about which a plugin asks the gateway's authorizers. The user is that of the request. */
const accessMessage = message({
  verb: string(1),
  group: string(2),
  version: string(3),
  resource: string(4),
  subresource: string(5),
  namespace: string(6),
  name: string(7),
  /** A path that is no resource; then only the verb counts beside it. */
  path: optional(string(8)),
  /** `namespace:name` of the service account that is asked about instead of the user. */
  account: optional(string(9)),
  /** Selectors that a list, a watch or a deletion of many is limited by, as queries say them; absent: by none. */
  fieldSelector: optional(string(10)),
  labelSelector: optional(string(11)),
})
export type AdmissionAccess = Static<typeof accessMessage>

/** A decision of the authorizers. */
const accessDecision = message({ access: nested(1, accessMessage), isAllowed: bool(2), reason: string(3) })
export type AccessDecision = Static<typeof accessDecision>

/** One request in one phase. */
const admissionRequest = message({
  /** `mutate` may change the object, `validate` may only refuse. */
  phase: string(1),
  attributes: nested(2, attributes),
  /** Answers to the questions of an earlier call. */
  decisions: many(nested(3, accessDecision)),
  /** Plugin to continue with after the answer to a question. Empty: the first. */
  resumeAt: string(4),
  /** Steps tell patches and reasons as well. */
  explain: bool(5),
})

/** A step of one plugin, or of one webhook of a plugin. */
const admissionStep = message({
  plugin: string(1),
  /** '' for the plugin itself, which includes the time of its webhooks. */
  webhook: string(2),
  durationMs: double(3),
  isRejected: bool(4),
  /** 0: first time, 1: asked again after a later plugin changed the object. */
  round: int64(5),
  /** Operations of a JSON patch; only where `explain` asks. */
  patch: optional(json<readonly unknown[]>(6)),
  /** Only where `explain` asks. */
  reason: optional(string(7)),
})
export type AdmissionStep = Static<typeof admissionStep>

/** An annotation of the request's audit events. */
const auditAnnotation = message({
  key: string(1),
  value: string(2),
  /** `Metadata` or `Request`: recorded at this level of the audit policy and above. */
  level: string(3),
})
export type AuditAnnotation = Static<typeof auditAnnotation>

/** One increment or observation of a metric of the gateway; its kind and labels are in the gateway's table. */
const metricCount = message({ name: string(1), labels: stringMap(2), value: double(3) })
export type MetricCount = Static<typeof metricCount>

/** The fields of every answer, for any decision. */
const details = {
  warnings: many(string(11)),
  auditAnnotations: many(nested(12, auditAnnotation)),
  steps: many(nested(13, admissionStep)),
  counts: many(nested(14, metricCount)),
} as const

/** That validating allows the object as well. */
const validated = message({ conditions: many(nested(1, condition)), ...details })
export type Validated = Static<typeof validated>

const admissionAnswer = variants({
  allowed: message({
    /** The object as the plugins left it; absent: unchanged. */
    object: optional(json<unknown>(1)),
    /** Conditions that must still hold at the commit. */
    conditions: many(nested(2, condition)),
    /** Keys of reservations for the write; the gateway reports the outcome. */
    reservations: many(string(3)),
    /**
     * For `mutate`: the early verdict, which equals the answer of `validate`, if all its plugins knew it at once. It is valid if the gateway
     * asks, and its admission rules are unchanged. Absent: `validate` must be asked.
     */
    validated: optional(nested(4, validated)),
    ...details,
  }),
  denied: message({
    status: json<Status>(1),
    /** Reservations of this call. The gateway reports that nothing is committed. */
    reservations: many(string(2)),
    ...details,
  }),
  /** The same call is made again with a decision on each access, once the namespaces are there; nothing of the object has changed yet. */
  asks: message({
    accesses: many(nested(1, accessMessage)),
    /** Plugin at which the next call continues. */
    resumeAt: string(2),
    conditions: many(nested(3, condition)),
    reservations: many(string(4)),
    /** Namespaces that the gateway makes in its own name, where they are absent. */
    namespaces: many(string(5)),
    ...details,
  }),
})
export type AdmissionAnswer = Static<typeof admissionAnswer>

/** The end of a write for which something was reserved. For an unknown outcome the gateway reports none. */
const outcomeRequest = message({
  writeId: string(1),
  reservations: many(string(2)),
  isCommitted: bool(3),
  /** The revision of the commit; 0 without one. */
  revision: int64(4),
})
export type OutcomeRequest = Static<typeof outcomeRequest>

/** The requests that admission must see. `'*'` matches all of a dimension. */
const admissionRule = message({
  phase: string(1),
  operations: many(string(2)),
  /** `apps`, `*` (all), and of these all but `apps`: `-apps`. */
  groups: many(string(3)),
  /** `pods`, `pods/status`, `*` (no subresources), `*`+`/*` (all), `pods/*`, `*`+`/status`. */
  resources: many(string(4)),
  /** Empty: all, and cluster-scoped objects. */
  namespaces: many(string(5)),
})
export type AdmissionRule = Static<typeof admissionRule>

/** A resource that admission rules are made from, by its storage prefix, and the revision up to which its changes are in them. */
const admissionRuleSource = message({ resource: string(1), revision: int64(2) })
export type AdmissionRuleSource = Static<typeof admissionRuleSource>

const admissionRulesPart = variants({
  /** The whole set, made from the store at this revision; sent when it changes, and renewed every second. */
  admissionRules: message({
    admissionRules: many(nested(1, admissionRule)),
    revision: int64(2),
    sources: many(nested(3, admissionRuleSource)),
  }),
})
export type AdmissionRulesPart = Static<typeof admissionRulesPart>

/**
 * Admission: decides and changes requests. The gateway asks only for requests that some admission rule matches; with admission rules older
 * than 5 s it asks for every write. A write to a source of admission rules is answered once a set that includes it is in force.
 */
export const admissionContract = contract(
  'orch.admission.v1.Admission',
  {
    /**
     * May be repeated although it has effects: a reservation carries the id of the write, and is made once; and webhooks
     * are called again for every attempt of a write, so that each must be prepared for it. Its duration depends on webhooks.
     */
    admit: unary(admissionRequest, admissionAnswer, { callers: ['gateway'], idempotent: true, hot: true }),
    /** A few commits, each of which storage makes in a moment. */
    outcome: unary(outcomeRequest, message({}), { callers: ['gateway'], idempotent: true, hot: true, answerMs: () => 2_000 }),
    admissionRules: stream(message({}), admissionRulesPart, { callers: ['gateway'], idempotent: true, endless: true }),
  },
  'admission',
)
export type AdmissionService = Service<typeof admissionContract>
export type AdmissionRequest = Static<typeof admissionRequest>
