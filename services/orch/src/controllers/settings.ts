import { settingsOf, settingTypes } from '@orch/platform'

const { list, path } = settingTypes
const inApi = settingsOf('API')
const inControllers = settingsOf('Controllers')

/** Which controllers run. */
export const controllersSettings = {
  controllers: inApi({
    flag: '--controllers',
    type: list,
    default: '*',
    doc: 'Controllers to run: * means all but tokencleaner, bootstrapsigner and the controllers of workloads, a name adds one, workloads adds all controllers of workloads, a leading dash removes. Names may end in -controller. Pods of workloads stay Pending until a node, or a test, runs them. Known: namespace, customresourcedefinition, bootstrap, garbage-collector, clusterrole-aggregation, flow-control, serviceaccount, serviceaccount-token, root-ca-cert-publisher, resourcequota, pvc-protection, pv-protection, storage-version-migrator, validatingadmissionpolicy-status, tokencleaner, bootstrapsigner, replicaset, replicationcontroller (the last two are workloads).',
  }),
}

/** By what controllers apart fill Secrets of service accounts. */
export const accountKeySettings = {
  serviceAccountPrivateKeyFile: inControllers({
    flag: '--service-account-private-key-file',
    type: path,
    doc: 'Private key that signs the tokens which serviceaccount-token puts into Secrets: the one of --service-account-signing-key-file of the gateways, or one of their --service-account-key-file. Without it that controller does not run.',
  }),
  rootCaFile: inControllers({
    flag: '--root-ca-file',
    type: path,
    defaultDoc: 'the authority of --kubeconfig',
    doc: 'Authority that is put into Secrets beside a token: by it the holder knows the gateways.',
  }),
}
