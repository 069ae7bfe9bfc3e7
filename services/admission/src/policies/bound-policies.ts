import type { Catalogue } from '@orch/core/catalogue'
import type { AdmissionRule, AdmissionRuleSource } from '@orch/core/contracts'
import type { ApiObject } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import {
  type BindingSpec,
  type CompiledPolicy,
  compileValidatingPolicy,
  type MatchResourcesSpec,
  type ValidatingPolicySpec,
} from '@orch/core/policies'
import { requireType } from '@orch/core/schema'
import { Reflector } from '@orch/platform'
import type { PluginNeeds } from '../plugin.ts'
import { admissionRulesOf, everythingIn } from '../webhooks/configurations.ts'
import type { Equivalents } from '../webhooks/equivalents.ts'
import { type Criteria, readRule, readSelector, type WebhookRule } from '../webhooks/webhook.ts'

/** Which requests a policy or a binding is about. */
export interface MatchResources extends Criteria {
  /** Names of the objects that the rule of the same place is about; empty: all. */
  readonly names: readonly (readonly string[])[]
  readonly excluded: readonly WebhookRule[]
  readonly excludedNames: readonly (readonly string[])[]
}

/** A binding, read once. */
export interface PolicyBinding {
  readonly name: string
  readonly spec: BindingSpec
  readonly policyName: string
  /** Absent: whatever the policy matches. */
  readonly matched: MatchResources | undefined
}

/** A policy, read once, and compiled when it is first needed. */
export class StoredPolicy {
  readonly name: string
  readonly spec: ValidatingPolicySpec
  readonly matched: MatchResources
  #compiled: CompiledPolicy | undefined

  constructor(name: string, spec: ValidatingPolicySpec) {
    this.name = name
    this.spec = spec
    this.matched = readMatchResources(spec.matchConstraints ?? {})
  }

  get compiled(): CompiledPolicy {
    this.#compiled ??= compileValidatingPolicy(this.spec)
    return this.#compiled
  }
}

/** A policy with the bindings that put it into effect, by name. */
export interface BoundPolicy {
  readonly policy: StoredPolicy
  readonly bindings: readonly PolicyBinding[]
}

interface Made {
  readonly bound: readonly BoundPolicy[]
  readonly admissionRules: readonly AdmissionRule[]
}

const decoder = new TextDecoder()

/** Follows policies and their bindings. A request sees one state of both. */
export class BoundPolicies {
  /** Before the first load nothing is known, and everything has to be asked about. */
  readonly ready: Promise<unknown>
  readonly #policies: Reflector<StoredPolicy>
  readonly #bindings: Reflector<PolicyBinding>
  readonly #prefixes: readonly string[]
  readonly #catalogue: Catalogue
  readonly #equivalents: Equivalents
  readonly #closed = new AbortController()
  readonly #listeners = new Set<() => void>()
  #isLoaded = false
  #made: Made | undefined

  constructor({ storage, catalogue, clock, log, random }: PluginNeeds, equivalents: Equivalents) {
    this.#catalogue = catalogue
    this.#equivalents = equivalents
    const group = domainGroup(catalogue.names, 'admissionregistration')
    this.#prefixes = [`${group}/validatingadmissionpolicies`, `${group}/validatingadmissionpolicybindings`]
    const [policies = '', bindings = ''] = this.#prefixes
    const common = { storage, clock, log, random, signal: this.#closed.signal }
    this.#policies = new Reflector({ ...common, resource: policies, decode: decodePolicy })
    this.#bindings = new Reflector({ ...common, resource: bindings, decode: decodeBinding })
    this.#policies.onChange(() => this.#changed())
    this.#bindings.onChange(() => this.#changed())
    this.ready = Promise.all([this.#policies.ready, this.#bindings.ready]).then(() => {
      this.#isLoaded = true
      this.#changed()
    })
    this.ready.catch(() => undefined)
  }

  /** Policies with a binding, by name. */
  get bound(): readonly BoundPolicy[] {
    return this.#present.bound
  }

  get admissionRules(): readonly AdmissionRule[] {
    return this.#present.admissionRules
  }

  get sources(): readonly AdmissionRuleSource[] {
    const [policies = '', bindings = ''] = this.#prefixes
    return [
      { resource: policies, revision: this.#policies.revision },
      { resource: bindings, revision: this.#bindings.revision },
    ]
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  close(): void {
    this.#closed.abort()
  }

  get #present(): Made {
    this.#made ??= this.#make()
    return this.#made
  }

  #make(): Made {
    if (!this.#isLoaded) return { bound: [], admissionRules: [everythingIn('validate')] }
    const byPolicy = Map.groupBy(this.#bindings.values(), ({ policyName }) => policyName)
    const bound = [...this.#policies.values()].sort(byName).flatMap((policy) => {
      const bindings = byPolicy.get(policy.name)?.sort(byName)
      return bindings === undefined ? [] : [{ policy, bindings }]
    })
    const needs = { catalogue: this.#catalogue, equivalents: this.#equivalents }
    return { bound, admissionRules: bound.flatMap(({ policy }) => admissionRulesOf(policy.matched, 'validate', needs)) }
  }

  #changed(): void {
    this.#made = undefined
    for (const listener of this.#listeners) listener()
  }
}

function byName(left: { readonly name: string }, right: { readonly name: string }): number {
  return left.name < right.name ? -1 : left.name > right.name ? 1 : 0
}

/** Storage holds nothing but objects that the gateway has checked. */
function decodePolicy(value: Uint8Array): StoredPolicy {
  const object: ApiObject = JSON.parse(decoder.decode(value))
  const { spec } = requireType('admissionregistration/v1.ValidatingAdmissionPolicy', object)
  return new StoredPolicy(object.metadata.name ?? '', spec ?? {})
}

function decodeBinding(value: Uint8Array): PolicyBinding {
  const object: ApiObject = JSON.parse(decoder.decode(value))
  const { spec = {} } = requireType('admissionregistration/v1.ValidatingAdmissionPolicyBinding', object)
  const { matchResources } = spec
  const matched = matchResources == null ? undefined : readMatchResources(matchResources)
  return { name: object.metadata.name ?? '', spec, policyName: spec.policyName ?? '', matched }
}

/** Reads which requests a policy or a binding is about. */
export function readMatchResources(spec: MatchResourcesSpec): MatchResources {
  const rules = spec.resourceRules ?? []
  const excluded = spec.excludeResourceRules ?? []
  return {
    rules: rules.map(readRule),
    names: rules.map(({ resourceNames }) => resourceNames ?? []),
    excluded: excluded.map(readRule),
    excludedNames: excluded.map(({ resourceNames }) => resourceNames ?? []),
    isEquivalentMatched: spec.matchPolicy !== 'Exact',
    namespaceSelector: readSelector(spec.namespaceSelector),
    objectSelector: readSelector(spec.objectSelector),
  }
}
