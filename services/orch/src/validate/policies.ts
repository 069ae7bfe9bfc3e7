import type { Manifest } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import {
  type BindingSpec,
  compileMutatingPolicy,
  compileValidatingPolicy,
  type MatchResourcesSpec,
  type PolicySpec,
} from '@orch/core/policies'

/** Kinds of policies, and of their bindings. */
export const policyKinds = [
  'ValidatingAdmissionPolicy',
  'MutatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicyBinding',
]

interface Specified extends ApiObject {
  readonly spec?: object
}

/** A policy of the files with a binding. */
interface InEffect {
  readonly manifest: Manifest
  /** True if its decision depends on the namespace of an object. */
  readonly readsNamespace: boolean
  readonly asksAuthorizer: boolean
}

/** Finds the policies among objects, the severity of their bindings, and the inputs that need a cluster. */
export class KnownPolicies {
  /** The severities by name of the binding. */
  readonly #actions = new Map<string, readonly string[]>()
  readonly #paramKinds: ReadonlySet<string>
  readonly #accepted: Manifest[] = []

  constructor(manifests: readonly Manifest[]) {
    const policies = manifests.map(({ object }) => object).filter(({ kind }) => policyKinds.includes(kind))
    for (const object of policies) {
      if (object.kind === 'ValidatingAdmissionPolicyBinding') this.#actions.set(object.metadata.name ?? '', actionsOf(object))
    }
    this.#paramKinds = new Set(policies.flatMap((policy) => paramKindOf(policy) ?? []))
  }

  /** Called when the server has accepted an object. */
  accept(manifest: Manifest): void {
    if (policyKinds.includes(manifest.object.kind)) this.#accepted.push(manifest)
  }

  /** True if objects of the kind are parameters of a policy. */
  isParam({ apiVersion, kind }: ApiObject): boolean {
    return this.#paramKinds.has(`${apiVersion} ${kind}`)
  }

  /** Prepares an object for its creation. A binding that only audits is changed to warn, so that the answer contains its findings. */
  prepared(object: ApiObject): ApiObject {
    if (object.kind !== 'ValidatingAdmissionPolicyBinding') return object
    const actions = actionsOf(object)
    if (!actions.includes('Audit') || actions.length > 1) return object
    const warning: Specified = { ...object, spec: { ...bindingOf(object), validationActions: ['Warn'] } }
    return warning
  }

  /** The severity of a server's warning: `audit` for an auditing policy, because clients do not see its warnings. */
  severityOf(warning: string): 'warning' | 'audit' {
    const [, binding] = policyWarning.exec(warning) ?? []
    const actions = binding === undefined ? undefined : this.#actions.get(binding)
    return actions?.length === 1 && actions[0] === 'Audit' ? 'audit' : 'warning'
  }

  /** Policies whose decisions depend on the user of a request. */
  get askingAuthorizer(): readonly Manifest[] {
    return this.#inEffect().flatMap(({ manifest, asksAuthorizer }) => (asksAuthorizer ? [manifest] : []))
  }

  /** Names of policies whose decisions depend on the namespace of an object. */
  get readingNamespace(): readonly string[] {
    return this.#inEffect().flatMap(({ manifest, readsNamespace }) => (readsNamespace ? [manifest.object.metadata.name ?? ''] : []))
  }

  #inEffect(): readonly InEffect[] {
    const bindings = this.#accepted.map(({ object }) => object).filter(({ kind }) => kind.endsWith('AdmissionPolicyBinding'))
    return this.#accepted.flatMap((manifest) => {
      const own = bindings.filter((binding) => isOf(binding, manifest.object)).map(bindingOf)
      return own.length === 0 ? [] : [{ manifest, ...readsOf(manifest.object, own) }]
    })
  }
}

const policyWarning = /^Validation failed for ValidatingAdmissionPolicy '[^']*' with binding '([^']*)': /

/** True for a warning of a policy. */
export function isOfPolicy(warning: string): boolean {
  return policyWarning.test(warning)
}

/** Policies as written in the files; the server has not checked them yet. */
function actionsOf(binding: ApiObject): readonly string[] {
  const { validationActions } = bindingOf(binding)
  return Array.isArray(validationActions) ? validationActions : []
}

/** The spec of a binding; empty if it has none. */
export function bindingOf({ spec }: Specified): BindingSpec {
  return spec ?? {}
}

function isOf(binding: ApiObject, policy: ApiObject): boolean {
  return binding.kind === `${policy.kind}Binding` && bindingOf(binding).policyName === policy.metadata.name
}

/** The spec of a policy; empty if it has none. */
export function specOf({ spec }: Specified): PolicySpec {
  return spec ?? {}
}

function paramKindOf(policy: ApiObject): string | undefined {
  const { apiVersion, kind } = specOf(policy).paramKind ?? {}
  return apiVersion === undefined || kind === undefined ? undefined : `${apiVersion} ${kind}`
}

function readsOf(policy: ApiObject, bindings: readonly BindingSpec[]): Omit<InEffect, 'manifest'> {
  const spec = specOf(policy)
  const { reads } = policy.kind === 'MutatingAdmissionPolicy' ? compileMutatingPolicy(spec) : compileValidatingPolicy(spec)
  const selects = [spec.matchConstraints, ...bindings.map(({ matchResources }) => matchResources)].some(hasNamespaceSelector)
  return { readsNamespace: reads.namespace || selects, asksAuthorizer: reads.authorizer }
}

function hasNamespaceSelector(matched: MatchResourcesSpec | undefined): boolean {
  const { matchLabels = {}, matchExpressions = [] } = matched?.namespaceSelector ?? {}
  return Object.keys(matchLabels).length + matchExpressions.length > 0
}
