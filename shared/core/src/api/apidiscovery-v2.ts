import { field, pointer, required } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { string } from '../description/texts.ts'
import { list, ref } from '../description/values.ts'

/** The types of apidiscovery/v2, the aggregated form of discovery. */
export const apidiscoveryV2 = defineTypes({
  APIGroupDiscoveryList: object('All groups below a path, with their versions and resources.', () => ({
    metadata: field(ref('meta/v1.ListMeta'), 1, 'Metadata of the list.'),
    items: required(list(ref('apidiscovery/v2.APIGroupDiscovery')), 2, 'The groups.'),
  })),
  APIGroupDiscovery: object('A group.', () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), 1, 'Names the group.'),
    versions: field(list(ref('apidiscovery/v2.APIVersionDiscovery')), 2, 'Versions of the group, the preferred one first.'),
  })),
  APIVersionDiscovery: struct('A version of a group.', () => ({
    version: required(string(), 1, 'Name of the version.'),
    resources: field(list(ref('apidiscovery/v2.APIResourceDiscovery')), 2, 'Resources of the version.'),
    freshness: field(string(), 3, 'Current, or Stale if the server of the version does not answer.'),
  })),
  APIResourceDiscovery: struct('A resource.', () => ({
    resource: required(string(), 1, 'Plural name as used in paths.'),
    responseKind: pointer(ref('meta/v1.GroupVersionKind'), 2, 'Kind of its objects. An empty group or version is that of the resource.'),
    scope: required(string(), 3, 'Namespaced or Cluster.'),
    singularResource: required(string(), 4, 'Singular name, for people who type it.'),
    verbs: required(list(string()), 5, 'Verbs that it is served with.'),
    shortNames: field(list(string()), 6, 'Short names.'),
    categories: field(list(string()), 7, 'Names of groups of resources that it belongs to.'),
    subresources: field(list(ref('apidiscovery/v2.APISubresourceDiscovery')), 8, 'Its subresources.'),
  })),
  APISubresourceDiscovery: struct('A subresource.', () => ({
    subresource: required(string(), 1, 'Its name, which follows the name of an object in paths.'),
    responseKind: pointer(ref('meta/v1.GroupVersionKind'), 2, 'Kind of its answers. An empty group or version is that of the resource.'),
    acceptedTypes: field(list(ref('meta/v1.GroupVersionKind')), 3, 'Kinds that it takes.'),
    verbs: required(list(string()), 4, 'Verbs that it is served with.'),
  })),
})
