import { hasMembers } from '@orch/core/json'

/** A resource in aggregated discovery, as another server describes it. */
export type RemoteResource = Readonly<Record<string, unknown>>

/**
 * The resources of a group version in an APIGroupDiscoveryList; undefined if the group version is absent. Each is parsed member by member, since one
 * member of a wrong type would invalidate the whole document for clients.
 */
export function resourcesInAggregated(document: unknown, group: string, version: string): readonly RemoteResource[] | undefined {
  const item = itemsOf(document, 'items').find((one) => hasMembers(one['metadata']) && one['metadata']['name'] === group)
  const found = itemsOf(item, 'versions').find((one) => one['version'] === version)
  if (found === undefined) return undefined
  return itemsOf(found, 'resources')
    .filter(({ resource }) => isText(resource))
    .map((entry) => {
      const subresources = itemsOf(entry, 'subresources').filter(({ subresource }) => isText(subresource))
      return {
        resource: entry['resource'],
        ...responseKindOf(entry, group, version),
        scope: entry['scope'] === 'Namespaced' ? 'Namespaced' : 'Cluster',
        singularResource: textOr(entry['singularResource'], ''),
        verbs: textsOf(entry['verbs']),
        ...listed('shortNames', entry),
        ...listed('categories', entry),
        ...(subresources.length === 0
          ? {}
          : {
              subresources: subresources.map((one) => ({
                subresource: one['subresource'],
                ...responseKindOf(one, group, version),
                verbs: textsOf(one['verbs']),
              })),
            }),
      }
    })
}

/** A resource with only subresources has no kind. */
function responseKindOf({ responseKind }: Readonly<Record<string, unknown>>, group: string, version: string) {
  if (!hasMembers(responseKind) || !isText(responseKind['kind']) || responseKind['kind'] === '') return {}
  return { responseKind: kindOf(responseKind, group, version) }
}

/** The resources in an APIResourceList, in which subresources follow their resource. */
export function resourcesInList(document: unknown, group: string, version: string): readonly RemoteResource[] | undefined {
  if (!hasMembers(document) || document['groupVersion'] !== `${group}/${version}`) return undefined
  const entries = itemsOf(document, 'resources').filter(({ name, kind }) => isText(name) && isText(kind))
  const subresources = entries.filter(({ name }) => String(name).includes('/'))
  return entries
    .filter(({ name }) => !String(name).includes('/'))
    .map((entry) => {
      const own = subresources.filter(({ name }) => String(name).startsWith(`${entry['name']}/`))
      return {
        resource: entry['name'],
        responseKind: kindOf(entry, group, version),
        scope: entry['namespaced'] === true ? 'Namespaced' : 'Cluster',
        singularResource: textOr(entry['singularName'], ''),
        verbs: textsOf(entry['verbs']),
        ...listed('shortNames', entry),
        ...listed('categories', entry),
        ...(own.length === 0 ? {} : { subresources: own.map((one) => subresourceOf(one, group, version)) }),
      }
    })
}

function subresourceOf(entry: Readonly<Record<string, unknown>>, group: string, version: string) {
  const subresource = String(entry['name']).split('/').slice(1).join('/')
  return { subresource, responseKind: kindOf(entry, group, version), verbs: textsOf(entry['verbs']) }
}

function kindOf(entry: Readonly<Record<string, unknown>>, group: string, version: string) {
  return { group: textOr(entry['group'], group), version: textOr(entry['version'], version), kind: entry['kind'] }
}

function listed(name: string, entry: Readonly<Record<string, unknown>>): Readonly<Record<string, readonly string[]>> {
  const texts = textsOf(entry[name])
  return texts.length === 0 ? {} : { [name]: texts }
}

function itemsOf(holder: unknown, name: string): readonly Readonly<Record<string, unknown>>[] {
  const list = hasMembers(holder) ? holder[name] : undefined
  return Array.isArray(list) ? list.filter(hasMembers) : []
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter(isText) : []
}

function textOr(value: unknown, fallback: string): string {
  return isText(value) && value !== '' ? value : fallback
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
