import type { Catalogue } from '@orch/core/catalogue'
import {
  type AdmissionRule,
  type AdmissionRuleIndex,
  type AdmissionRuleSource,
  type Attributes,
  createAdmissionRuleIndex,
} from '@orch/core/contracts'
import { compareTexts, jsonEqual, parseBytes } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import type { BindingSpec, MatchResourcesSpec, PolicySpec } from '@orch/core/policies'
import { ended, Listeners, Reflector } from '@orch/platform'
import { Manifests } from '../manifests/manifests.ts'
import { isAboutPolicies } from '../matching/about-admission.ts'
import { readRule, readSelector } from '../matching/criteria.ts'
import type { Equivalents } from '../matching/equivalents.ts'
import type { PluginNeeds } from '../plugin.ts'
import { admissionRulesReader, everythingIn } from '../webhooks/configurations.ts'

/** The requests that a policy or a binding matches. */
export type MatchResources = ReturnType<typeof readMatchResources>

/** A parsed binding. */
export interface PolicyBinding {
  readonly name: string
  readonly spec: BindingSpec
  readonly policyName: string
  /** Undefined for all requests that the policy matches. */
  readonly matched: MatchResources | undefined
}

/** A parsed policy, which is compiled at its first use. */
export class StoredPolicy<Spec extends PolicySpec, Compiled> {
  readonly name: string
  readonly spec: Spec
  readonly matched: MatchResources
  readonly #compile: (spec: Spec) => Compiled
  #compiled: Compiled | undefined

  constructor(name: string, spec: Spec, compile: (spec: Spec) => Compiled) {
    this.name = name
    this.spec = spec
    this.matched = readMatchResources(spec.matchConstraints ?? {})
    this.#compile = compile
  }

  get compiled(): Compiled {
    this.#compiled ??= this.#compile(this.spec)
    return this.#compiled
  }
}

/** A policy with its bindings, by name. */
export interface BoundPolicy<Spec extends PolicySpec, Compiled> {
  readonly policy: StoredPolicy<Spec, Compiled>
  readonly bindings: readonly PolicyBinding[]
  readonly isOfManifest: boolean
}

/** The differences between the kinds of policies. */
export interface PolicyKind<Spec extends PolicySpec, Compiled> {
  readonly plugin: 'MutatingAdmissionPolicy' | 'ValidatingAdmissionPolicy'
  /** `validatingadmissionpolicies`, and the plural of their bindings. */
  readonly policies: string
  readonly bindings: string
  readonly phase: 'mutate' | 'validate'
  specOf(policy: ApiObject): Spec
  bindingOf(binding: ApiObject): BindingSpec
  compile(spec: Spec): Compiled
}

interface Made<Spec extends PolicySpec, Compiled> {
  readonly index: AdmissionRuleIndex<BoundPolicy<Spec, Compiled>>
  readonly admissionRules: readonly AdmissionRule[]
}

/** Watches policies and their bindings. A request sees a consistent state of both. */
export class BoundPolicies<Spec extends PolicySpec, Compiled> {
  /** Before the first load every request matches. */
  readonly ready: Promise<unknown>
  readonly #kind: PolicyKind<Spec, Compiled>
  readonly #policies: Reflector<StoredPolicy<Spec, Compiled>>
  readonly #bindings: Reflector<PolicyBinding>
  readonly #prefixes: readonly string[]
  readonly #catalogue: Catalogue
  readonly #rulesOf: ReturnType<typeof admissionRulesReader>
  readonly #closed = new AbortController()
  readonly #listeners = new Listeners()
  readonly #manifests: Manifests
  #ofManifests: readonly BoundPolicy<Spec, Compiled>[]
  #isLoaded = false
  #made: Made<Spec, Compiled> | undefined

  constructor(
    kind: PolicyKind<Spec, Compiled>,
    { storage, catalogue, clock, log, random, settings }: PluginNeeds,
    equivalents: Equivalents,
  ) {
    this.#kind = kind
    this.#manifests = settings.manifests.get(kind.plugin) ?? new Manifests()
    this.#ofManifests = this.#readManifests()
    this.#manifests.onChange(() => {
      this.#ofManifests = this.#readManifests()
      this.#changed()
    })
    this.#catalogue = catalogue
    this.#rulesOf = admissionRulesReader(kind.phase, { catalogue, equivalents })
    const group = domainGroup(catalogue.names, 'admissionregistration')
    this.#prefixes = [`${group}/${kind.policies}`, `${group}/${kind.bindings}`]
    const [policies = '', bindings = ''] = this.#prefixes
    const common = { storage, clock, log, random, signal: this.#closed.signal }
    this.#policies = new Reflector({ ...common, resource: policies, decode: (value, key) => this.#read(value, key) })
    this.#bindings = new Reflector({
      ...common,
      resource: bindings,
      decode: (value) => readBinding(parseBytes(value), kind),
    })
    this.#policies.onChange(() => this.#changed())
    this.#bindings.onChange(() => this.#changed())
    this.ready = Promise.all([this.#policies.ready, this.#bindings.ready]).then(() => {
      this.#isLoaded = true
      this.#changed()
    })
    this.ready.catch(() => undefined)
  }

  /** True if policies and bindings are loaded: `ready` has resolved. */
  get isReady(): boolean {
    return this.#isLoaded
  }

  /** True if some policy decides about policies and bindings too. */
  get hasManifests(): boolean {
    return this.#ofManifests.length > 0
  }

  /** Policies with a binding whose rules may match a request: those of manifests, then stored ones, by name. */
  about(attributes: Attributes): readonly BoundPolicy<Spec, Compiled>[] {
    const found = this.#present.index.find(this.#kind.phase, attributes)
    return isAboutPolicies(attributes, this.#catalogue.names) ? found.filter(({ isOfManifest }) => isOfManifest) : found
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
    this.#closed.abort(ended)
  }

  get #present(): Made<Spec, Compiled> {
    this.#made ??= this.#make()
    return this.#made
  }

  #make(): Made<Spec, Compiled> {
    const { phase } = this.#kind
    if (!this.#isLoaded) return { index: createAdmissionRuleIndex([]), admissionRules: [everythingIn(phase)] }
    const bound = [...this.#ofManifests, ...bind(this.#policies.values(), this.#bindings.values(), false)]
    const indexed = bound.flatMap((value) => this.#rulesOf(value.policy.matched).map((admissionRule) => ({ admissionRule, value })))
    return { index: createAdmissionRuleIndex(indexed), admissionRules: indexed.map(({ admissionRule }) => admissionRule) }
  }

  #readManifests(): readonly BoundPolicy<Spec, Compiled>[] {
    const { plugin, specOf, compile } = this.#kind
    const policies = this.#manifests.of(plugin).map((policy) => new StoredPolicy(policy.metadata.name ?? '', specOf(policy), compile))
    return bind(
      policies,
      this.#manifests.of(`${plugin}Binding`).map((binding) => readBinding(binding, this.#kind)),
      true,
    )
  }

  /** The gateway has validated all objects in storage. A write of the status keeps the compiled policy. */
  #read(value: Uint8Array, key: string): StoredPolicy<Spec, Compiled> {
    const object: ApiObject = parseBytes(value)
    const spec = this.#kind.specOf(object)
    const known = this.#policies.get(key)
    return known !== undefined && jsonEqual(known.spec, spec)
      ? known
      : new StoredPolicy(object.metadata.name ?? '', spec, this.#kind.compile)
  }

  #changed(): void {
    this.#made = undefined
    this.#listeners.call()
  }
}

function byName(left: { readonly name: string }, right: { readonly name: string }): number {
  return compareTexts(left.name, right.name)
}

/** The policies that have a binding, by name. */
function bind<Spec extends PolicySpec, Compiled>(
  policies: Iterable<StoredPolicy<Spec, Compiled>>,
  bindings: Iterable<PolicyBinding>,
  isOfManifest: boolean,
): BoundPolicy<Spec, Compiled>[] {
  const byPolicy = Map.groupBy(bindings, ({ policyName }) => policyName)
  return [...policies].sort(byName).flatMap((policy) => {
    const own = byPolicy.get(policy.name)?.sort(byName)
    return own === undefined ? [] : [{ policy, bindings: own, isOfManifest }]
  })
}

function readBinding(object: ApiObject, { bindingOf }: Pick<PolicyKind<PolicySpec, unknown>, 'bindingOf'>): PolicyBinding {
  const spec = bindingOf(object)
  const { matchResources } = spec
  const matched = matchResources == null ? undefined : readMatchResources(matchResources)
  return { name: object.metadata.name ?? '', spec, policyName: spec.policyName ?? '', matched }
}

/** Parses the match rules of a policy or a binding. */
export function readMatchResources(spec: MatchResourcesSpec) {
  const rules = spec.resourceRules ?? []
  const excluded = spec.excludeResourceRules ?? []
  return {
    rules: rules.map(readRule),
    /** Names of objects for the rule at the same index; empty for all. */
    names: rules.map(({ resourceNames }) => resourceNames ?? []),
    excluded: excluded.map(readRule),
    excludedNames: excluded.map(({ resourceNames }) => resourceNames ?? []),
    isEquivalentMatched: spec.matchPolicy !== 'Exact',
    namespaceSelector: readSelector(spec.namespaceSelector),
    objectSelector: readSelector(spec.objectSelector),
  }
}
