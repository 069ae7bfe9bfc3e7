import { objectKey } from '@orch/core/contracts'
import { notFound } from '@orch/core/meta'
import { allowed, denied, type Plugin, type PluginNeeds, type Registration } from '../plugin.ts'

export const namespaceExists: Registration = { isDefault: false, create: createNamespaceExists }

const namespaces = { group: '', resource: 'namespaces' }

/** NamespaceExists: writes in an absent namespace are refused. */
function createNamespaceExists({ storage }: PluginNeeds): Plugin {
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
