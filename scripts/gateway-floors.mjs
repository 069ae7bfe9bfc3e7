/**
 * The floors of the gateway, lowest first. A file imports, types included, from its own floor and those below. A folder ends with a
 * slash; the longest path that fits a file says its floor.
 */
export const gatewayFloors = [
  {
    // What a request is, how it is read and answered, and what knows no resources.
    name: 'request',
    paths: [
      'audit/',
      'exchange/',
      'profiles/',
      'texts/',
      'watch-hub/',
      'explain/explanation.ts',
      'body.ts',
      'browser-headers.ts',
      'counted-metrics.ts',
      'health-check.ts',
      'limit-share.ts',
      'limits.ts',
      'metrics.ts',
      'named-certificates.ts',
      'negotiate.ts',
      'our-failure.ts',
      'pace.ts',
      'request-info.ts',
      'request-turns.ts',
      'request.ts',
      'respond.ts',
      'state.ts',
      'trace.ts',
      'version-info.ts',
      'warnings.ts',
    ],
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
      'convert.ts',
      'deprecation.ts',
      'selection.ts',
      'target.ts',
    ],
  },
  { name: 'steps', paths: ['steps/', 'explain/steps.ts'] },
  { name: 'write', paths: ['admission/', 'allocation/', 'definitions/', 'write/'] },
  { name: 'verbs', paths: ['verbs/', 'subresources/'] },
  { name: 'dispatch', paths: ['dispatch.ts', 'explain/route.ts', 'routes/'] },
  { name: 'gateway', paths: ['gateway.ts', 'gateway-options.ts', 'index.ts', 'listener.ts', 'parts.ts', 'shared-port.ts'] },
]
