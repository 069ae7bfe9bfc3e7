/** The tests that also run with the services apart. */

const fileOf = (folder: string) => (name: string) => `test/${folder}/${name}.test.ts`

/** Writes, reads, watches, controllers, rights and admission: their results depend on messages between services. */
const acrossServices = [
  ...[
    ...['copies', 'deletion', 'garbage', 'list', 'objects', 'order', 'owners', 'resource-version'],
    ...['server-service', 'subresources', 'watch', 'without-effect', 'workloads'],
  ].map(fileOf('api')),
  ...['node-restriction', 'owner-references', 'policies', 'webhook-flow'].map(fileOf('admission')),
  fileOf('aggregation')('objects'),
  fileOf('authorization')('rbac'),
  fileOf('weather')('fault-rules-apart'),
]

/** Tests of decisions that one gateway or admission service makes alone, and files that repeat a file above in another way. */
const ofOneService = [
  ...['apply', 'authentication', 'discovery', 'endpoints', 'errors', 'formats', 'http2', 'kinds', 'names'].map(fileOf('api')),
  ...['negotiation', 'patch', 'rules', 'tables', 'validation', 'written-back'].map(fileOf('api')),
  ...['certificates', 'default-plugins', 'feature-gates', 'mutating-custom-kinds', 'mutating-policies'].map(fileOf('admission')),
  ...['policy-metrics', 'policy-types', 'webhook-failures', 'webhook-matching'].map(fileOf('admission')),
  ...['webhook-objects', 'webhook-review'].map(fileOf('admission')),
  ...['older-server', 'registration'].map(fileOf('aggregation')),
  fileOf('authorization')('access-table'),
  fileOf('explain')('header'),
  fileOf('gateway')('delete'),
]

/** The files of `npm test`; `all` also includes the decisions of one service. */
export function testsApart(which: string): readonly string[] {
  return which === 'all' ? [...acrossServices, ...ofOneService] : acrossServices
}
