import { isJsonObject } from '@orch/core/json'

const withheld = '<withheld>'

/** The members of a TokenReview and of a TokenRequest that may be recorded; others may contain the token, also by mistake. */
const shownMembers: Readonly<Record<string, ReadonlySet<string>>> = {
  metadata: new Set([
    'name',
    'generateName',
    'namespace',
    'uid',
    'resourceVersion',
    'creationTimestamp',
    'labels',
    'ownerReferences',
    'managedFields',
  ]),
  spec: new Set(['audiences', 'expirationSeconds', 'boundObjectRef']),
  status: new Set(['authenticated', 'user', 'audiences', 'error', 'expirationTimestamp']),
}

/** The body of a request that carries tokens, without them. */
export function withholdTokens(body: unknown): unknown {
  if (!isJsonObject(body)) return withheld
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      if (name === 'kind' || name === 'apiVersion') return [name, value]
      const shown = Object.hasOwn(shownMembers, name) ? shownMembers[name] : undefined
      if (shown === undefined || !isJsonObject(value)) return [name, isEmpty(value) ? value : withheld]
      return [
        name,
        Object.fromEntries(Object.entries(value).map(([inner, text]) => [inner, shown.has(inner) || isEmpty(text) ? text : withheld])),
      ]
    }),
  )
}

function isEmpty(value: unknown): boolean {
  return value === null || value === ''
}
