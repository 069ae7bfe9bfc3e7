/**
 * The floors of the gateway, lowest first. A file imports, types included, from its own floor and those below. A folder ends with a
 * slash; the longest path that fits a file says its floor.
 */
export const gatewayFloors = [
  {
    // What a request is, how it is read and answered, and what knows no resources.
    name: 'request',
    paths: ['audit/', 'exchange/', 'profiles/', 'request/', 'server/', 'texts/', 'watch-hub/', 'limits.ts'],
  },
  {
    // What a request is addressed to, its representations, from whom it comes and whether it may.
    name: 'target',
    paths: [
      'aggregation/',
      'authentication/',
      'authorization/',
      'conversion/',
      'custom-resources/',
      'flow-control/',
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
