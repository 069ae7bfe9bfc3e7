import { objectKey } from '@orch/core/contracts'
import { notFound } from '@orch/core/meta'
import { allowed, denied, type Plugin, type PluginNeeds } from '../plugin.ts'

const namespaces = { group: '', resource: 'namespaces' }

/** NamespaceExists: writes in an absent namespace are refused. */
export function namespaceExists({ storage }: PluginNeeds): Plugin {
  return {
    admissionRules: [{ phase: 'validate', operations: ['CREATE', 'UPDATE', 'DELETE'], groups: ['*'], resources: ['*/*'], namespaces: [] }],
    async validate({ namespace, group, resource }) {
      if (namespace === '' || (group === '' && resource === 'namespaces')) return allowed
      const key = objectKey('core/namespaces', undefined, namespace)
      const { entry } = await storage.get({ key, read: { kind: 'latest' } })
      return entry === undefined ? denied(notFound(namespaces, namespace)) : allowed
    },
  }
}
