import { onTestFinished } from 'vitest'
import { type Api, aName, aNamespace, configMap, created } from '../api/api.ts'
import { configMapRule, configurationsAt } from './hooks.ts'

/** Selects a namespace by its name. */
const inNamespace = (namespace: string) => ({ matchLabels: { 'orch.io/metadata.name': namespace } })

interface Parts {
  readonly policy?: Readonly<Record<string, unknown>>
  readonly binding?: Readonly<Record<string, unknown>>
  readonly bindings?: readonly Readonly<Record<string, unknown>>[]
}

type Named = Readonly<Record<string, unknown>> & { readonly metadata: { readonly name: string } }

/** Creates policies on a server; each policy ends with its test. */
export function policiesOf(api: () => Api) {
  /** Creates a policy or a binding. */
  async function keep(plural: string, object: Named): Promise<void> {
    await created(api(), `${configurationsAt}/${plural}`, { apiVersion: 'admissionregistration.orch.io/v1', ...object })
    onTestFinished(
      async () =>
        void (await api()
          .delete(`${configurationsAt}/${plural}/${object.metadata.name}`)
          .catch(() => undefined)),
    )
  }

  /** A policy about the ConfigMaps of a new namespace, with its bindings. */
  async function aPolicy({ policy = {}, binding = {}, bindings = [binding] }: Parts) {
    const namespace = await aNamespace(api())
    const name = aName('policy')
    const spec = {
      matchConstraints: { resourceRules: [configMapRule], namespaceSelector: inNamespace(namespace) },
      validations: [{ expression: "'owner' in object.metadata.?labels.orValue({})", message: 'an owner is required' }],
      ...policy,
    }
    await keep('validatingadmissionpolicies', { kind: 'ValidatingAdmissionPolicy', metadata: { name }, spec })
    const names: string[] = []
    for (const one of bindings) {
      const bindingName = aName('binding')
      names.push(bindingName)
      const bindingSpec = { policyName: name, validationActions: ['Deny'], ...one }
      await keep('validatingadmissionpolicybindings', {
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name: bindingName },
        spec: bindingSpec,
      })
    }
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    const create = (object: object = {}, headers: Record<string, string> = {}) =>
      api().send('POST', path, { body: { ...configMap({ name: aName('map') }), ...object }, headers })
    return { namespace, name, binding: names[0] ?? '', path, create }
  }

  return { aPolicy, keep }
}
