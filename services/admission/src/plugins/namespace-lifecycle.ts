import { type AdmissionRule, type Attributes, keysOf } from '@orch/core/contracts'
import { forbidden, notFound, type ResourceName } from '@orch/core/meta'
import { parseStored } from '@orch/core/schema'
import { ended, Reflector } from '@orch/platform'
import { allowed, forbid, type Plugin, type PluginNeeds, type Verdict } from '../plugin.ts'

/** The cached facts of a Namespace. */
type NamespaceState = ReturnType<typeof stateOf>

const namespaces: ResourceName = { group: '', resource: 'namespaces' }
const prefix = 'core/namespaces'

/**
 * NamespaceLifecycle: nothing is created in a namespace that is absent or terminating, and the server's own namespaces are not deleted. Before a refusal
 * storage is asked about a namespace that memory lacks; the state in memory is confirmed by the condition that the Namespace is unchanged at the commit.
 */
export function namespaceLifecycle({ storage, catalogue, clock, log, random }: PluginNeeds): Plugin {
  const closed = new AbortController()
  const reflector = new Reflector({ storage, clock, log, random, resource: prefix, decode: stateOf, signal: closed.signal })
  const { systemNamespace, publicNamespace } = catalogue.names
  const keyOf = keysOf(prefix)
  const immortal = new Set(['default', systemNamespace, publicNamespace])

  const latest = async (key: string): Promise<NamespaceState | undefined> => {
    const { entry } = await storage.get({ key, read: { kind: 'latest' } })
    return entry === undefined ? undefined : stateOf(entry.value, key)
  }

  return {
    admissionRules: admissionRulesFor(catalogue),
    mutate(attributes) {
      const { namespace } = attributes
      if (namespace === '') return allowed
      const key = keyOf(undefined, namespace)
      const known = reflector.get(key)
      if (known !== undefined && !known.isTerminating) return checked(attributes, known)
      return latest(key).then((state) => checked(attributes, state))
    },
    validate({ name }) {
      return immortal.has(name) ? { kind: 'denied', error: forbidden(namespaces, name, 'this namespace may not be deleted') } : allowed
    },
    close: () => closed.abort(ended),
  }
}

function checked(attributes: Attributes, state: NamespaceState | undefined): Verdict {
  if (state === undefined) return { kind: 'denied', error: notFound(namespaces, attributes.namespace) }
  if (state.isTerminating) return { kind: 'denied', error: terminating(attributes) }
  return { kind: 'allowed', conditions: state.conditions }
}

/** Creates of namespaced resources and of their subresources, and deletions of namespaces. */
function admissionRulesFor(catalogue: PluginNeeds['catalogue']): AdmissionRule[] {
  const byGroup = new Map<string, Set<string>>()
  for (const { group, plural, isNamespaced, subresources } of catalogue.resources) {
    if (!isNamespaced) continue
    const resources = byGroup.get(group) ?? new Set()
    byGroup.set(group, resources)
    // An access review writes nothing and is allowed everywhere.
    if (plural !== 'localsubjectaccessreviews') resources.add(plural)
    for (const { name, verbs } of subresources) if (verbs.includes('create')) resources.add(`${plural}/${name}`)
  }
  const creates = [...byGroup].map(([group, resources]) => ({
    phase: 'mutate',
    operations: ['CREATE'],
    groups: [group],
    resources: [...resources],
    namespaces: [],
  }))
  // Groups of custom resources are unknown to the catalogue.
  const others = ['*', ...catalogue.resources.map(({ group }) => `-${group}`)]
  creates.push({ phase: 'mutate', operations: ['CREATE'], groups: [...new Set(others)], resources: ['*'], namespaces: [] })
  return [...creates, { phase: 'validate', operations: ['DELETE'], groups: [''], resources: ['namespaces'], namespaces: [] }]
}

function stateOf(value: Uint8Array, key: string) {
  const { metadata, status } = parseStored('core/v1.Namespace', value)
  return {
    /** The unchanged Namespace: the condition of writes in it. */
    conditions: [{ key, revision: Number(metadata.resourceVersion) }],
    isTerminating: metadata.deletionTimestamp !== undefined || status.phase === 'Terminating',
  }
}

function terminating(attributes: Attributes) {
  const { namespace } = attributes
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`
  const cause = { reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' }
  return forbid(attributes, why, [cause])
}
