import type { Attributes, CallContext, MetricCount } from '@orch/core/contracts'
import { hasMembers, jsonEqual } from '@orch/core/json'
import { parseApiVersion, StatusError, serviceUnavailable } from '@orch/core/meta'
import {
  type CompiledMutatingPolicy,
  compileMutatingPolicy,
  type MutatedKind,
  type MutatingPolicySpec,
  mutateBy,
} from '@orch/core/policies'
import { requireType } from '@orch/core/schema'
import { type Pause, pauses, runWithPauses } from '@orch/platform'
import type { RequestVersion } from '../matching/equivalents.ts'
import { AskedAccesses, requestInputOf } from '../matching/request-input.ts'
import { allowed, denied, forbid, type Inquiry, type Plugin, type PluginNeeds, type Verdict } from '../plugin.ts'
import { memoryOf, objectHasChanged, type ReinvocationMemory } from '../reinvocation-memory.ts'
import { readNamespace, unlessUnconverted } from '../webhooks/plugin-parts.ts'
import { isApiObject } from '../webhooks/review.ts'
import type { PolicyBinding, PolicyKind, StoredPolicy } from './bound-policies.ts'
import { MutationCounts } from './check-counts.ts'
import { CustomKinds } from './custom-kinds.ts'
import { matchResources } from './match-resources.ts'
import { PolicyPlugin } from './policy-plugin.ts'

/** MutatingAdmissionPolicy: policies in CEL that change objects before webhooks. */
export function mutatingAdmissionPolicy(needs: PluginNeeds): Plugin {
  return new MutatingPolicies(needs)
}

type Policy = StoredPolicy<MutatingPolicySpec, CompiledMutatingPolicy>

const kind: PolicyKind<MutatingPolicySpec, CompiledMutatingPolicy> = {
  plugin: 'MutatingAdmissionPolicy',
  policies: 'mutatingadmissionpolicies',
  bindings: 'mutatingadmissionpolicybindings',
  phase: 'mutate',
  specOf: (object) => requireType('admissionregistration/v1.MutatingAdmissionPolicy', object).spec ?? {},
  bindingOf: (object) => requireType('admissionregistration/v1.MutatingAdmissionPolicyBinding', object).spec ?? {},
  compile: compileMutatingPolicy,
}

/** The object between policies, in the version of the request. */
interface Journey {
  readonly attributes: Attributes
  readonly context: CallContext
  readonly own: RequestVersion
  readonly accesses: AskedAccesses
  readonly memory: ReinvocationMemory
  readonly counts: MetricCount[]
  /** The refusals of policies that fail closed. */
  readonly refusals: Refusal[]
  /** Yields between policies: they may be many, and each may take long. */
  readonly pause: Pause
  object: unknown
}

interface Refusal {
  readonly message: string
  /** A failure of the change itself makes the object invalid. Otherwise the policy cannot be evaluated. */
  readonly isInvalid: boolean
}

class MutatingPolicies extends PolicyPlugin<MutatingPolicySpec, CompiledMutatingPolicy> implements Plugin {
  readonly #customKinds: CustomKinds
  readonly #checks = new MutationCounts()

  constructor(needs: PluginNeeds) {
    super(kind, needs)
    this.#customKinds = new CustomKinds(needs.storage, needs.catalogue.names)
  }

  mutate(attributes: Attributes, inquiry: Inquiry): Verdict | Promise<Verdict> {
    if (this.isPassedOver(attributes) || !isApiObject(attributes.object)) return allowed
    return this.#mutate(attributes, inquiry)
  }

  async #mutate(attributes: Attributes, inquiry: Inquiry): Promise<Verdict> {
    await this.policies.ready
    const { reinvocation } = inquiry
    const memory = memoryOf(inquiry, kind)
    // In the second round other plugins have run in between.
    if (reinvocation.isSecondRound && !jsonEqual(memory.output, attributes.object)) objectHasChanged(memory)
    const accesses = new AskedAccesses(inquiry)
    const own = this.match.equivalents.own(attributes)
    const journey: Journey = {
      attributes,
      context: inquiry.context,
      own,
      accesses,
      memory,
      counts: [],
      refusals: [],
      pause: pauses(),
      object: attributes.object,
    }
    for (const { policy, bindings } of this.policies.about(attributes)) {
      if (reinvocation.isSecondRound && !memory.due.has(policy.name)) continue
      for (const binding of bindings) {
        const error = await unlessUnconverted(() => this.#evaluate(policy, binding, journey))
        if (error !== undefined) return accesses.question ?? { ...denied(error), counts: journey.counts }
      }
    }
    const { question } = accesses
    if (question !== undefined) return question
    const { refusals } = journey
    if (refusals.length > 0) return { ...denied(refusalOf(attributes, refusals)), counts: journey.counts }
    memory.output = journey.object
    const { counts } = journey
    if (jsonEqual(journey.object, attributes.object)) return counts.length === 0 ? allowed : { kind: 'allowed', counts }
    reinvocation.request()
    return { kind: 'allowed', object: journey.object, counts }
  }

  /** Applies the changes of a policy. A refusal is noted, as in kube-apiserver, and other policies are still evaluated; an error ends the request. */
  async #evaluate(policy: Policy, binding: PolicyBinding, journey: Journey): Promise<StatusError | undefined> {
    const { own, accesses, memory } = journey
    const attributes = { ...journey.attributes, object: journey.object }
    const refuse = (problem: string, isInvalid = false): undefined => {
      if (policy.spec.failurePolicy === 'Ignore') return
      const message = `policy '${policy.name}' with binding '${binding.name}' denied request: ${problem}`
      journey.refusals.push({ message, isInvalid })
    }
    const match = await matchResources(policy.matched, attributes, this.match)
    if (match.kind === 'passed over') return undefined
    if (match.kind === 'undecided') return refuse(`failed to configure policy: ${match.error.status.message ?? ''}`)
    const bound = binding.matched === undefined ? undefined : await matchResources(binding.matched, attributes, this.match)
    if (bound?.kind === 'passed over') return undefined
    if (bound?.kind === 'undecided') return refuse(`failed to configure binding: ${bound.error.status.message ?? ''}`)
    const { asVersion } = match
    const request = requestInputOf({ attributes, own, asVersion })
    const read = await this.params.read(policy.spec.paramKind, binding.spec.paramRef, request.namespace)
    if (read.kind !== 'params') return refuse(`failed to configure ${read.kind === 'unknown' ? 'policy' : 'binding'}: ${read.message}`)
    const described = this.#kindOf(asVersion, attributes) ?? (await this.#customKind(asVersion))
    if (described === undefined) return policy.compiled.isFailing ? schemaNotFound(asVersion) : undefined
    const { compiled } = policy
    const namespaceObject = compiled.reads.namespace ? await readNamespace(attributes, this.needs) : null
    const oldObject = await this.converter.convert(attributes.oldObject, own, asVersion, journey.context)
    const owner = { owner: policy, name: policy.name, kind: 'policy', type: 'admit' } as const
    for (const params of read.params) {
      const object = await this.converter.convert(journey.object, own, asVersion, journey.context)
      if (!isApiObject(object)) return undefined
      const input = { object, oldObject, request, params, namespaceObject, authorize: accesses.authorize }
      const outcome = await runWithPauses(
        mutateBy(compiled, input, described, () => this.needs.clock.monotonic()),
        journey.pause,
      )
      if (outcome.conditions !== undefined) journey.counts.push(...this.conditions.of(outcome.conditions, owner, attributes.operation))
      if (outcome.kind === 'passed over') continue
      if (outcome.kind === 'failed') {
        refuse(outcome.message, true)
        continue
      }
      for (const { failure, error, elapsedMs } of outcome.changes) {
        journey.counts.push(...this.#checks.of({ policy: policy.name, binding, error, elapsedMs }))
        if (failure !== undefined) refuse(failure, true)
      }
      const completed = this.converter.complete(outcome.object, object)
      if (completed.kind === 'refused') refuse(completed.error.status.message ?? '', true)
      else if (completed.isChanged) {
        journey.object = await this.converter.convert(completed.object, asVersion, own, journey.context)
        objectHasChanged(memory)
      }
      if (compiled.isReinvoked) memory.reinvocable.add(policy.name)
    }
    return undefined
  }

  /** Subresources of custom objects have the kind of the object, except for a Scale. */
  async #customKind(asVersion: RequestVersion): Promise<MutatedKind | undefined> {
    const isWhole = asVersion.subresource === '' || asVersion.subresource === 'status'
    return isWhole ? this.#customKinds.find(asVersion) : undefined
  }

  /** The built-in kind for a policy; undefined for another kind. */
  #kindOf({ kind: { group, version, kind: name } }: RequestVersion, { object }: Attributes): MutatedKind | undefined {
    const given = hasMembers(object) && typeof object['apiVersion'] === 'string' ? parseApiVersion(object['apiVersion']) : undefined
    const readers =
      this.needs.catalogue.readersOfKind({ ...(given ?? { group, version }), kind: name }) ??
      this.needs.catalogue.readersOfKind({ group, version, kind: name })
    if (readers === undefined) return undefined
    return {
      shape: readers.shape,
      problemsOf(value) {
        const decoded = readers.decode(value, { trackUnknown: true })
        return decoded.kind === 'mismatch'
          ? [decoded.message]
          : decoded.unknownFields.map((path) => `unknown field ${JSON.stringify(path)}`)
      },
    }
  }
}

/** The message is the first refusal, and all refusals are causes. */
function refusalOf(attributes: Attributes, refusals: readonly Refusal[]): StatusError {
  const { message, isInvalid } = refusals[0] ?? { message: '', isInvalid: false }
  const { status } = forbid(attributes, message)
  const details = { ...status.details, causes: refusals.map((refusal) => ({ message: refusal.message })) }
  return new StatusError({ ...status, message, ...(isInvalid ? { reason: 'Invalid' as const } : {}), details })
}

function schemaNotFound({ kind: { group, version, kind: name } }: RequestVersion): StatusError {
  const text = `${group}/${version}, Kind=${name}`
  const delay = 'There can be a delay between when CustomResourceDefinitions are created and when they are available.'
  return serviceUnavailable(`Resource kind ${text} not found. ${delay}`)
}
