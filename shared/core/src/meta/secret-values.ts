import { isJsonObject } from '../json/member.ts'
import type { ApiObject } from './object-meta.ts'

/** A Secret without its values, which the annotation of `kubectl apply` also contains. Other objects are unchanged. */
export function withoutSecretValues(object: ApiObject): ApiObject {
  if (object.kind !== 'Secret' || object.apiVersion !== 'v1') return object
  const hide = (values: unknown) =>
    isJsonObject(values) ? Object.fromEntries(Object.keys(values).map((key) => [key, 'redacted'])) : values
  const { annotations } = object.metadata
  const applied =
    annotations === undefined ? undefined : Object.keys(annotations).filter((name) => name.endsWith('/last-applied-configuration'))
  const shown =
    applied === undefined ? {} : { annotations: { ...annotations, ...Object.fromEntries(applied.map((name) => [name, 'redacted'])) } }
  const members: Readonly<Record<string, unknown>> = { ...object }
  return {
    ...object,
    metadata: { ...object.metadata, ...shown },
    ...('data' in members ? { data: hide(members['data']) } : {}),
    ...('stringData' in members ? { stringData: hide(members['stringData']) } : {}),
  }
}
