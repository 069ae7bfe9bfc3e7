/**
 * The floors of the gateway, lowest first. A file imports, types included, only from its own floor and lower ones. A folder ends with a slash; the
 * longest matching path decides the floor of a file.
 */
export const gatewayFloors = [
  {
    // The request, its parsing and its answer; files here do not depend on resources.
    name: 'request',
    paths: [
      'audit/',
      'console/',
      'exchange/',
      'faults/',
      'profiles/',
      'request/',
      'server/',
      'streams/',
      'texts/',
      'watch-hub/',
      'limits.ts',
      'surroundings.ts',
    ],
  },
  {
    // The target of a request, its representations, its user and the user's rights.
    name: 'target',
    paths: [
      'aggregation/',
      'authentication/',
      'authorization/',
      'conversion/',
      'custom-resources/',
      'flow-control/',
      'history/',
      'kubelets/',
      'representations/',
      'strategies/',
      'target/',
    ],
  },
  { name: 'steps', paths: ['steps/'] },
  { name: 'write', paths: ['admission/', 'allocation/', 'definitions/', 'write/'] },
  { name: 'verbs', paths: ['verbs/', 'subresources/'] },
  { name: 'dispatch', paths: ['dispatch.ts', 'routes/'] },
  { name: 'gateway', paths: ['listener/', 'gateway.ts', 'gateway-options.ts', 'index.ts', 'parts.ts'] },
]
