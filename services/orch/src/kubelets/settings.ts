import { SettingsError, settingsOf, settingTypes, type Values } from '@orch/platform'
import { readCertificateFile, readPairIfNamed } from '../configuration/flag-files.ts'

const { bool, duration, int, list, path } = settingTypes
const setting = settingsOf('API')

/** The settings of calls to kubelets, and to Pods for their proxies. */
export const kubeletSettings = {
  kubelet: {
    authorityFile: setting(
      { flag: '--kubelet-certificate-authority', type: path },
      'Certificate authorities of kubelets, read at the start. Without it any certificate of a kubelet is accepted.',
    ),
    certificateFile: setting(
      { flag: '--kubelet-client-certificate', type: path },
      'Client certificate that this server presents to kubelets. The files are reloaded when they change.',
    ),
    keyFile: setting({ flag: '--kubelet-client-key', type: path }, 'Private key of --kubelet-client-certificate.'),
    preferredAddressTypes: setting(
      { flag: '--kubelet-preferred-address-types', type: list, default: 'Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP' },
      'Types of addresses of a Node, in the order in which they are tried for its kubelet. The first that the Node has is taken.',
    ),
    port: setting(
      { flag: '--kubelet-port', type: int({ min: 1, max: 65_535 }), default: '10250' },
      'Port of kubelets whose Node names none.',
    ),
    timeoutMs: setting(
      { flag: '--kubelet-timeout', type: duration, default: '5s' },
      'Longest time of making a connection to a kubelet or a Pod.',
    ),
    allowsLocal: setting(
      { flag: '--kubelet-local-addresses', type: bool, default: 'false' },
      'Connect to kubelets and Pods at loopback and link-local addresses, too. Clients that may write the status of Nodes or Pods can then reach the services of this machine.',
    ),
  },
}

/** Checks the settings and the files that they name. */
export function readKubelets({ kubelet }: Values<typeof kubeletSettings>) {
  const { authorityFile, certificateFile, keyFile, ...calls } = kubelet
  const pair = readPairIfNamed({
    certificate: { flag: '--kubelet-client-certificate', path: certificateFile },
    key: { flag: '--kubelet-client-key', path: keyFile },
  })
  if (calls.preferredAddressTypes.length === 0) {
    throw new SettingsError('--kubelet-preferred-address-types: at least one type of addresses is needed, such as InternalIP')
  }
  return {
    ...calls,
    authorities: authorityFile === '' ? undefined : readCertificateFile('--kubelet-certificate-authority', authorityFile),
    /** The certificate and key files that this server presents to kubelets; undefined without a certificate. */
    pairFiles: pair?.files,
  }
}
