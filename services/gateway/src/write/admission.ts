import type { ConversionWebhook } from '@orch/core/catalogue'
import type { AccessDecision, AdmissionAccess, AdmissionAnswer, AdmissionService, Attributes, User, Validated } from '@orch/core/contracts'
import { freezeDeeply, isJsonObject, shareWith } from '@orch/core/json'
import { memo } from '@orch/core/memo'
import { type ApiObject, internal, printTime, StatusError, serviceUnavailable, toInstant } from '@orch/core/meta'
import { isSharedPart } from '@orch/core/schema'
import type { Clock } from '@orch/platform'
import type { AdmissionMetrics } from '../admission/admission-metrics.ts'
import { AdmissionRules } from '../admission/admission-rules.ts'
import type { Admitted, Admitter, Admitting, Ahead, Conditions, Operation } from '../admission/admitter.ts'
import { type Authorizer, decide } from '../authorization/authorizer.ts'
import { isCurrent } from '../conversion/convert.ts'
import { limits } from '../limits.ts'
import { AdmissionRefusal, type GatewayRequest, originOf } from '../request/index.ts'
import type { Surroundings } from '../surroundings.ts'
import type { Target } from '../target/target.ts'
import { afterAdmission, isTakenWhole, takeAdmitted } from './admitted-object.ts'
import type { ChangeDraft, Condition, Draft, WriteStep } from './draft.ts'

type Phase = 'mutate' | 'validate'

/** The dependencies of calling admission. */
export interface AdmissionParts {
  readonly admitter: Pick<Admitter, 'mutate' | 'validate' | 'settle'>
  readonly clock: Clock
}

/** Calls mutating admission, and applies the changes that the writer could have made. */
export const mutate: WriteStep<AdmissionParts> = async (draft, { admitter, clock }) => {
  const { write, object, live } = draft
  // The copy may be changed in place from here on, as admission has received the object itself.
  const own: ApiObject = { ...object, metadata: { ...object.metadata } }
  draft.object = own
  if (write.isAdmitted) return
  const admitted = await admitter.mutate(admittingOf(draft, operationOf(draft), object))
  if (admitted === undefined) return
  keep(draft, admitted)
  draft.mutation = admitted
  if (admitted.object === undefined) return
  const { shownAs, target } = write
  if (shownAs !== undefined) {
    draft.mutation = undefined
    draft.object = shownAs.take(own, admitted.object)
    return
  }
  const whole = afterAdmission(target.served.resource, admitted.object, object)
  draft.object = takeAdmitted({ target, own: object, left: whole, live: live?.object, now: printTime(toInstant(clock.now())) })
  // For an existing object, and through a subresource, some changes may be ignored: validating admission has not seen the result.
  const mayDiffer = target.subresource !== undefined || live !== undefined
  if (mayDiffer && !isTakenWhole(draft.object, whole)) draft.mutation = undefined
  if (live === undefined) shareSpec(draft.object, object)
  else if (isCurrent(target.served, live.entry)) shareMembers(draft.object, live.object)
}

/** The last result of mutating admission for a spec that many new objects share. */
const admittedOf = memo((_given: object): { spec: unknown } => ({ spec: undefined }))

/** Pods of one template leave admission alike, and share one spec. */
function shareSpec(object: ApiObject, { spec: given }: ApiObject): void {
  if (!isJsonObject(given) || !isSharedPart(given)) return
  const last = admittedOf(given)
  last.spec = freezeDeeply(shareWith(object.spec, last.spec))
  object.spec = last.spec
}

/** Admission's additions to a write are often present already, such as the tolerations of a Pod. */
function shareMembers(object: ApiObject, live: ApiObject): void {
  for (const field in object) if (field !== 'metadata') object[field] = shareWith(object[field], live[field])
}

/** Calls validating admission, unless the answer of mutating admission contained its verdict. */
export const admit: WriteStep<AdmissionParts> = async (draft, { admitter }) => {
  const { mutation, object, write } = draft
  if (write.isAdmitted) return
  const admitted = await admitter.validate(admittingOf(draft, operationOf(draft), object), mutation)
  if (admitted !== undefined) keep(draft, admitted)
}

/** Calls both phases for a deletion in sequence. */
export const admitDeletion: WriteStep<AdmissionParts, ChangeDraft> = async (draft, { admitter }) => {
  if (draft.write.isAdmitted) return
  const admitting = admittingOf(draft, 'DELETE', undefined)
  const mutated = await admitter.mutate(admitting)
  if (mutated !== undefined) keep(draft, mutated)
  const validated = await admitter.validate(admitting)
  if (validated !== undefined) keep(draft, validated)
}

function operationOf({ live }: Draft): Operation {
  return live === undefined ? 'CREATE' : 'UPDATE'
}

/** Adds an answer's conditions to the commit. */
function keep(draft: Draft, { conditions, reservations }: Admitted): void {
  if (conditions.length > 0) draft.conditions = joinConditions(draft.conditions, conditions)
  if (reservations.length > 0) draft.reservations = [...draft.reservations, ...reservations]
}

/** Several plugins may depend on the same Namespace, and a commit has few conditions. */
export function joinConditions(first: readonly Condition[], second: readonly Condition[]): readonly Condition[] {
  const isIn = ({ key, revision }: Condition) => first.some((other) => other.key === key && other.revision === revision)
  return [...first, ...second.filter((one) => !isIn(one))]
}

/** The parts of a draft for admission. */
interface Admittable {
  readonly write: Pick<Draft['write'], 'request' | 'target' | 'id' | 'name' | 'options' | 'optionsObject' | 'shownAs'>
  readonly live: { readonly object: ApiObject } | undefined
}

/** A write in the form for admission. `object` is undefined for a deletion. */
export function admittingOf({ write, live }: Admittable, operation: Operation, object: ApiObject | undefined): Admitting {
  const { request, target, id, name, options, optionsObject, shownAs } = write
  const { served, subresource } = target
  const { resource } = served
  const show = (shown: ApiObject | undefined) => (shown === undefined ? undefined : (shownAs?.show(shown) ?? shown))
  // A deletion of a collection names no object.
  const ownName = operation === 'DELETE' ? target.info.name : name !== '' ? name : (object?.metadata.name ?? '')
  return {
    request,
    attributes: {
      operation,
      group: resource.group,
      version: resource.version,
      kind: (shownAs ?? resource).kind,
      resource: resource.plural,
      subresource: subresource?.name ?? '',
      namespace: namespaceOf(target, ownName),
      name: ownName,
      object: show(object),
      oldObject: show(live?.object),
      options: optionsOf(operation, options.isDryRun, optionsObject, request),
      user: request.user,
      dryRun: options.isDryRun,
      requestId: request.auditId,
      writeId: id,
      ...(resource.otherVersions === undefined ? {} : { otherVersions: resource.otherVersions }),
      ...(resource.otherVersions === undefined || resource.conversion === undefined ? {} : { conversion: toldOf(resource.conversion) }),
    },
  }
}

/** The call of a kind's conversion webhook, as attributes. */
function toldOf({ definition, clientConfig, reviewVersions }: ConversionWebhook): Attributes['conversion'] {
  return { definition, clientConfig, reviewVersions }
}

/** The options' kind follows the operation, as an apply or a PUT may create as well. Omitted members stay absent. */
export function optionsOf(operation: Operation, isDryRun: boolean, given: unknown, { query }: GatewayRequest): unknown {
  if (operation !== 'CREATE' && operation !== 'UPDATE') return given
  const { fieldManager, ...options }: { readonly fieldManager?: unknown } = isJsonObject(given) ? given : {}
  return {
    ...options,
    kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions',
    dryRun: isDryRun ? ['All'] : undefined,
    fieldManager: fieldManager || undefined,
    fieldValidation: (query.isEmpty ? undefined : query.get('fieldValidation')) || undefined,
    force: undefined,
  }
}

/** A Namespace object is in its own namespace. */
export function namespaceOf({ served: { resource }, info }: Target, name: string): string {
  if (resource.isNamespaced) return info.namespace
  return resource.isPlace === true ? name : ''
}

export interface AdmitterOptions extends Pick<Surroundings, 'clock' | 'log'> {
  readonly admission: AdmissionService | undefined
  /** True if it is in this process. */
  readonly isOwn?: boolean | undefined
  /** True if admission opens with the first write, so that the server is ready without its rules. */
  readonly isLate?: boolean | undefined
  readonly authorizers: readonly Authorizer[]
  /** Creates a namespace as the server; an existing one is left unchanged. */
  readonly provideNamespace: (name: string) => Promise<void>
  readonly metrics: AdmissionMetrics
}

/** Without an admission service nothing is refused. */
export function createAdmitter(options: AdmitterOptions): Admitter {
  const { admission, isOwn = false, isLate = false, metrics, clock, log } = options
  if (admission === undefined) {
    return {
      mutate: async () => undefined,
      validate: async () => undefined,
      hasRules: true,
      settle: () => undefined,
      close: () => {},
    }
  }
  const rules = new AdmissionRules(admission, { isOwn, clock, log })
  if (!isLate) rules.begin()
  // Outdated rules are not trusted: then admission is called for everything.
  const trusted = () => (!isOwn && clock.monotonic() - rules.receivedMs > limits.admissionRulesAgeMsMax ? undefined : rules.index)
  const ask = (phase: Phase, admitting: Admitting): Promise<Admitted | undefined> => {
    if (!rules.hasBegun) rules.begin()
    const admissionRules = trusted()
    const isAsked = admissionRules === undefined || admissionRules.find(phase, admitting.attributes).length > 0
    return isAsked ? askAll({ phase, admitting, admission, admissionRules }, options) : Promise.resolve(undefined)
  }
  return {
    mutate: (admitting) => ask('mutate', admitting),
    async validate(admitting, mutation) {
      const ahead = mutation?.ahead
      if (ahead === undefined || ahead.admissionRules !== trusted()) return ask('validate', admitting)
      const { answer, attributes } = ahead
      tell(answer, ahead, 'validate', metrics)
      metrics.step('validate', attributes.operation, false, durationOf(answer))
      return { object: undefined, conditions: answer.conditions, reservations: [] }
    },
    get hasRules() {
      return isLate || rules.index !== undefined
    },
    settle({ writeId, reservations, resource, revision }) {
      if (reservations.length > 0) {
        const outcome = { writeId, reservations, isCommitted: revision !== undefined, revision: revision ?? 0 }
        // Admission also notices this by itself, but later.
        admission.outcome(outcome).catch((error) => log.warn({ err: error }, 'the outcome of a write could not be reported to admission'))
      }
      if (revision === undefined || (rules.index !== undefined && !rules.sources.has(resource))) return undefined
      return rules.reached(resource, revision)
    },
    close: () => rules.close(),
  }
}

interface Asked {
  readonly phase: Phase
  readonly admitting: Admitting
  readonly admission: AdmissionService
  /** The current admission rules; undefined if unknown. */
  readonly admissionRules: object | undefined
}

/** Repeats the call while admission requests authorization checks. */
async function askAll({ phase, admitting, admission, admissionRules }: Asked, options: AdmitterOptions): Promise<Admitted> {
  const { request, attributes } = admitting
  const { clock, metrics } = options
  const startedMs = clock.monotonic()
  const conditions: Conditions[number][] = []
  const reservations: string[] = []
  let decisions: readonly AccessDecision[] = []
  let resumeAt = ''
  for (let calls = 0; calls < limits.admissionCallsMax; calls++) {
    const question = { phase, attributes, decisions, resumeAt, explain: request.explanation?.isShown === true }
    const timeoutMs = Math.max(1, request.deadlineMs - (calls === 0 ? startedMs : clock.monotonic()))
    let answer: AdmissionAnswer
    try {
      answer = await admission.admit(question, { ...originOf(request), timeoutMs })
    } catch (error) {
      throw error instanceof StatusError ? error : serviceUnavailable('admission cannot be reached', { cause: error })
    }
    tell(answer, admitting, phase, metrics)
    reservations.push(...answer.reservations)
    switch (answer.kind) {
      case 'allowed':
        metrics.step(phase, attributes.operation, false, Math.max(0, clock.monotonic() - startedMs - durationOf(answer.validated)))
        conditions.push(...answer.conditions)
        return { object: answer.object, conditions, reservations, ahead: aheadOf(answer.validated, admitting, admissionRules) }
      case 'denied':
        metrics.step(phase, attributes.operation, true, clock.monotonic() - startedMs)
        if (reservations.length > 0) {
          const outcome = { writeId: attributes.writeId, reservations, isCommitted: false, revision: 0 }
          await admission
            .outcome(outcome)
            .catch((error) => options.log.warn({ err: error }, 'a refusal could not be reported to admission'))
        }
        throw new AdmissionRefusal(answer.status)
      case 'asks':
        conditions.push(...answer.conditions)
        resumeAt = answer.resumeAt
        for (const namespace of answer.namespaces) await options.provideNamespace(namespace)
        decisions = [...decisions, ...(await decideAll(answer.accesses, request.user, options.authorizers))]
    }
  }
  throw internal(`the admission plugin ${resumeAt} asks again and again what the user may do`)
}

/** Time of validating within the answer of mutating admission. */
function durationOf(answer: Validated | undefined): number {
  return answer === undefined ? 0 : answer.steps.reduce((sum, { durationMs }) => sum + durationMs, 0)
}

/** Outdated admission rules cannot be seen to change. */
function aheadOf(answer: Validated | undefined, { request, attributes }: Admitting, admissionRules: object | undefined): Ahead | undefined {
  return answer === undefined || admissionRules === undefined ? undefined : { answer, request, attributes, admissionRules }
}

/** Passes on admission's answer besides its decision. */
function tell(answer: Omit<Validated, 'conditions'>, { request, attributes }: Admitting, phase: Phase, metrics: AdmissionMetrics): void {
  for (const warning of answer.warnings) request.warn(warning)
  for (const { key, value, level } of answer.auditAnnotations) {
    if (level === 'Request') request.annotateBody(key, value)
    else request.annotate(key, value)
  }
  request.explanation?.admitted(phase, attributes.writeId, answer.steps)
  request.waitedMs += waitedForWebhooks(phase, answer.steps)
  metrics.plugins(phase, attributes.operation, answer.steps)
  for (const count of answer.counts) metrics.count(count)
}

/** Mutating webhooks are called in sequence, validating ones in parallel. */
function waitedForWebhooks(phase: Phase, steps: Validated['steps']): number {
  let waitedMs = 0
  for (const { webhook, durationMs } of steps) {
    if (webhook === '') continue
    waitedMs = phase === 'mutate' ? waitedMs + durationMs : Math.max(waitedMs, durationMs)
  }
  return waitedMs
}

function decideAll(accesses: readonly AdmissionAccess[], user: User, authorizers: readonly Authorizer[]): Promise<AccessDecision[]> {
  return Promise.all(
    accesses.map(async (access) => {
      const { path, verb, account, fieldSelector: field = '', labelSelector: label = '' } = access
      const selectors = field === '' && label === '' ? {} : { selectors: { field, label } }
      const asked = path === undefined ? ({ kind: 'resource', ...access, ...selectors } as const) : ({ kind: 'path', verb, path } as const)
      const { kind, reason } = await decide(authorizers, account === undefined ? user : userOfAccount(account), asked)
      return { access, isAllowed: kind === 'allow', reason }
    }),
  )
}

/** The service account `namespace:name` as a user, without a token. */
function userOfAccount(account: string): User {
  const [namespace = ''] = account.split(':')
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
  return { name: `system:serviceaccount:${account}`, uid: '', groups, extra: {} }
}
