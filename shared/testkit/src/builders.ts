import type { ApiObject, ObjectMeta } from '@orch/core/meta'

type MetaFields = Omit<ObjectMeta, 'name' | 'namespace'> & { readonly name: string; readonly namespace?: string }

interface ConfigMapFields extends MetaFields {
  readonly data?: Record<string, string>
  readonly immutable?: boolean
}

/** A ConfigMap, by default in the namespace `default`. */
export function aConfigMap({ data, immutable, ...metadata }: ConfigMapFields): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'default', ...metadata },
    ...(data === undefined ? {} : { data }),
    ...(immutable === undefined ? {} : { immutable }),
  }
}

export function aNamespace(metadata: MetaFields): ApiObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata }
}
