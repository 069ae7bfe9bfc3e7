/** The tests that run a second time, with the services apart. */

const fileOf = (folder: string) => (name: string) => `test/${folder}/${name}.test.ts`
const webhooks = ['flow', 'matching', 'review', 'failures', 'objects'].map((topic) => `webhook-${topic}`)

/** Writes, reads, watches, controllers, rights and admission: their results depend on messages between services. */
const acrossServices = [
  ...[
    ...['apply', 'copies', 'deletion', 'errors', 'formats', 'garbage', 'http2', 'list', 'objects', 'order', 'owners', 'patch'],
    ...['resource-version', 'server-service', 'subresources', 'watch', 'without-effect', 'workloads', 'written-back'],
  ].map(fileOf('api')),
  ...['default-plugins', 'node-restriction', 'owner-references', 'certificates', ...webhooks].map(fileOf('admission')),
  ...['policies', 'mutating-policies', 'mutating-custom-kinds', 'policy-metrics', 'policy-types', 'feature-gates'].map(fileOf('admission')),
  ...['objects', 'older-server'].map(fileOf('aggregation')),
  fileOf('authorization')('rbac'),
]

/** Decisions of a gateway alone, and files that repeat a file above in another way. */
const ofOneGateway = [
  ...['authentication', 'discovery', 'endpoints', 'kinds', 'names', 'negotiation', 'rules', 'tables', 'validation'].map(fileOf('api')),
  fileOf('authorization')('access-table'),
  fileOf('explain')('header'),
  fileOf('gateway')('delete'),
]

/** The files of `npm test`; `all` includes the gateways' own decisions, too. */
export function testsApart(which: string): readonly string[] {
  return which === 'all' ? [...acrossServices, ...ofOneGateway] : acrossServices
}
