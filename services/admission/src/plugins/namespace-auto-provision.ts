import { objectKey } from '@orch/core/contracts'
import { allowed, type Plugin, type PluginNeeds } from '../plugin.ts'

/** Created in a namespace, but never stored there. */
const reviews = 'localsubjectaccessreviews'

/** NamespaceAutoProvision: the first object in an absent namespace creates the namespace. */
export function namespaceAutoProvision({ storage }: PluginNeeds): Plugin {
  return {
    admissionRules: [{ phase: 'mutate', operations: ['CREATE'], groups: ['*'], resources: ['*'], namespaces: [] }],
    async mutate({ namespace, resource, group, dryRun }) {
      if (namespace === '' || dryRun || resource === reviews || (group === '' && resource === 'namespaces')) return allowed
      const { entry } = await storage.get({ key: objectKey('core/namespaces', undefined, namespace), read: { kind: 'latest' } })
      return entry === undefined ? { kind: 'needs', namespace } : allowed
    },
  }
}
