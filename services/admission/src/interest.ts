import type { Attributes, Interest } from '@orch/core'

/** Whether an interest is about this request. */
export function isInterested({ phase, operations, groups, resources }: Interest, asked: string, attributes: Attributes): boolean {
  if (phase !== '*' && phase !== asked) return false
  if (!operations.includes('*') && !operations.includes(attributes.operation)) return false
  if (!groups.includes('*') && !groups.includes(attributes.group)) return false
  const { resource, subresource } = attributes
  const full = subresource === '' ? resource : `${resource}/${subresource}`
  return resources.some((wanted) => wanted === '*/*' || wanted === full || (wanted === '*' && subresource === ''))
}
