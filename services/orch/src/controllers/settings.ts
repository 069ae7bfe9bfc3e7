import { setting, settingTypes } from '@orch/platform'

const { list, path } = settingTypes

/** Which controllers run. */
export const controllersSettings = {
  controllers: setting({
    flag: '--controllers',
    env: 'ORCH_CONTROLLERS',
    type: list,
    default: '*',
    group: 'API',
    doc: 'Controllers to run: * means all but tokencleaner, bootstrapsigner and the controllers of workloads, a name adds one, workloads adds all controllers of workloads, a leading dash removes. Names may end in -controller. Pods of workloads stay Pending until a node, or a test, runs them. Known: namespace, customresourcedefinition, bootstrap, garbage-collector, clusterrole-aggregation, flow-control, serviceaccount, serviceaccount-token, root-ca-cert-publisher, resourcequota, pvc-protection, pv-protection, storage-version-migrator, validatingadmissionpolicy-status, tokencleaner, bootstrapsigner, replicaset, replicationcontroller (the last two are workloads).',
  }),
}

/** By what controllers apart fill Secrets of service accounts. */
export const accountKeySettings = {
  serviceAccountPrivateKeyFile: setting({
    flag: '--service-account-private-key-file',
    env: 'ORCH_SERVICE_ACCOUNT_PRIVATE_KEY_FILE',
    type: path,
    default: '',
    group: 'Controllers',
    doc: 'Private key that signs the tokens which serviceaccount-token puts into Secrets: the one of --service-account-signing-key-file of the gateways, or one of their --service-account-key-file. Without it that controller does not run.',
  }),
  rootCaFile: setting({
    flag: '--root-ca-file',
    env: 'ORCH_ROOT_CA_FILE',
    type: path,
    default: '',
    defaultDoc: 'the authority of --kubeconfig',
    group: 'Controllers',
    doc: 'Authority that is put into Secrets beside a token: by it the holder knows the gateways.',
  }),
}
