/** The sources that `npm run mutate` changes, and the tests that must notice it. */
export const mutationScopes = {
  write: {
    mutate: ['services/gateway/src/write/*.ts'],
    tests: [
      'services/gateway/src/write/*.test.ts',
      'test/gateway/{delete,ownership,bootstrap-objects,write-decisions,write-loop,services}.test.ts',
      'services/orch/src/bootstrap-objects.test.ts',
      'test/api/{apply,deletion,generations,objects,owners,patch,copies,errors,written-back,validation,subresources,status-metadata}.test.ts',
      'test/admission/webhook-objects.test.ts',
    ],
  },
  authorization: {
    mutate: ['services/gateway/src/authorization/*.ts', 'shared/core/src/rbac/*.ts', '!shared/core/src/rbac/policy.ts'],
    tests: [
      'services/gateway/src/authorization/*.test.ts',
      'shared/core/src/rbac/*.test.ts',
      'test/authorization/*.test.ts',
      'test/security/access.test.ts',
    ],
  },
  impersonation: {
    mutate: ['services/gateway/src/steps/impersonat*.ts'],
    tests: ['services/gateway/src/steps/impersonat*.test.ts', 'test/identity/*impersonation.test.ts'],
  },
  quota: {
    mutate: ['services/admission/src/quota/*.ts', 'shared/core/src/quota/*.ts', 'services/controllers/src/quota/*.ts'],
    tests: [
      'services/admission/src/quota/*.test.ts',
      'shared/core/src/quota/*.test.ts',
      'services/controllers/src/quota/*.test.ts',
      'test/quota/{account,accounts,count,quota}.test.ts',
    ],
  },
  'garbage-collector': {
    mutate: ['services/controllers/src/garbage-collector/*.ts'],
    tests: [
      'services/controllers/src/garbage-collector/*.test.ts',
      'services/orch/src/garbage-collection.test.ts',
      'test/api/garbage.test.ts',
    ],
  },
  apply: {
    mutate: ['shared/core/src/apply/*.ts'],
    tests: ['shared/core/src/apply/*.test.ts', 'test/api/{apply,owners}.test.ts'],
  },
  selectors: { mutate: ['shared/core/src/selectors/*.ts'], tests: ['shared/core/src/selectors/*.test.ts'] },
  stores: {
    mutate: ['services/storage/src/store/*.ts', 'services/storage/src/memory/*.ts'],
    tests: [
      'services/storage/src/store/*.test.ts',
      'services/storage/src/memory/*.test.ts',
      'services/storage/src/*.test.ts',
      'test/durability/{damaged,damaged-pages}.test.ts',
    ],
  },
  etcd: {
    mutate: ['services/storage/src/etcd/*.ts'],
    // Tests of several members and replicas are excluded, since with them each mutant would take almost a minute.
    tests: [
      'services/storage/src/etcd/{backup,client,deliveries,direct-connection,etcd-store,health,leadership}.test.ts',
      'services/storage/src/etcd/{members,parts,reader,rules,wire}.test.ts',
    ],
  },
  watch: {
    mutate: ['services/watch/src/*.ts', 'services/watch/src/change-source/*.ts'],
    tests: ['services/watch/src/*.test.ts', 'services/watch/src/change-source/*.test.ts'],
  },
}
