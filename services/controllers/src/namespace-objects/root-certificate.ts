import { jsonEqual } from '@orch/core/json'
import { domainLabel, type Names } from '@orch/core/names'
import type { Controller } from '../controller.ts'
import { namespaceObjectController } from './namespace-objects.ts'

const description = 'The certificate by which pods know the API server. It says nothing about other servers.'

/** Creates in every namespace a ConfigMap with the certificate that pods verify the server with. */
export function rootCertificatePublisher(certificateAuthority: string): Controller {
  return namespaceObjectController({
    controller: 'root-ca-cert-publisher',
    plural: 'configmaps',
    wanted: (names: Names) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: names.rootCertificateConfigMap,
        annotations: { [domainLabel(names, 'description')]: description },
      },
      data: { 'ca.crt': certificateAuthority },
    }),
    mended: (live, wanted) => (jsonEqual(live['data'], wanted['data']) ? undefined : { ...live, data: wanted['data'] }),
  })
}
