import { defineTypes, field, list, object, pointer, ref, required, string, struct } from '../description/define.ts'

/** The types of apidiscovery/v2, the aggregated form of discovery. */
export const apidiscoveryV2 = defineTypes({
  APIGroupDiscoveryList: object('All groups below a path, with their versions and resources.', () => ({
    metadata: field(ref('meta/v1.ListMeta'), { tag: 1, doc: 'Metadata of the list.' }),
    items: required(list(ref('apidiscovery/v2.APIGroupDiscovery')), { tag: 2, doc: 'The groups.' }),
  })),
  APIGroupDiscovery: object('A group.', () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1, doc: 'Names the group.' }),
    versions: field(list(ref('apidiscovery/v2.APIVersionDiscovery')), { tag: 2, doc: 'Versions of the group, the preferred one first.' }),
  })),
  APIVersionDiscovery: struct('A version of a group.', () => ({
    version: required(string(), { tag: 1, doc: 'Name of the version.' }),
    resources: field(list(ref('apidiscovery/v2.APIResourceDiscovery')), { tag: 2, doc: 'Resources of the version.' }),
    freshness: field(string(), { tag: 3, doc: 'Current, or Stale if the server of the version does not answer.' }),
  })),
  APIResourceDiscovery: struct('A resource.', () => ({
    resource: required(string(), { tag: 1, doc: 'Plural name as used in paths.' }),
    responseKind: pointer(ref('meta/v1.GroupVersionKind'), {
      tag: 2,
      doc: 'Kind of its objects. An empty group or version is that of the resource.',
    }),
    scope: required(string(), { tag: 3, doc: 'Namespaced or Cluster.' }),
    singularResource: required(string(), { tag: 4, doc: 'Singular name, for people who type it.' }),
    verbs: required(list(string()), { tag: 5, doc: 'Verbs that it is served with.' }),
    shortNames: field(list(string()), { tag: 6, doc: 'Short names.' }),
    categories: field(list(string()), { tag: 7, doc: 'Names of groups of resources that it belongs to.' }),
    subresources: field(list(ref('apidiscovery/v2.APISubresourceDiscovery')), { tag: 8, doc: 'Its subresources.' }),
  })),
  APISubresourceDiscovery: struct('A subresource.', () => ({
    subresource: required(string(), { tag: 1, doc: 'Its name, which follows the name of an object in paths.' }),
    responseKind: pointer(ref('meta/v1.GroupVersionKind'), {
      tag: 2,
      doc: 'Kind of its answers. An empty group or version is that of the resource.',
    }),
    acceptedTypes: field(list(ref('meta/v1.GroupVersionKind')), { tag: 3, doc: 'Kinds that it takes.' }),
    verbs: required(list(string()), { tag: 4, doc: 'Verbs that it is served with.' }),
  })),
})
