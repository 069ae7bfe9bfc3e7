import { parseConfiguration } from '@orch/client'
import type { RunningServer } from 'orch'

/** The administrator's TLS credentials. */
export async function credentialsOf({ kubeconfig }: RunningServer): Promise<{ ca: string; cert: string; key: string }> {
  const { certificateAuthority = '', clientCertificate = '', clientKey = '' } = await parseConfiguration(kubeconfig)
  return { ca: certificateAuthority, cert: clientCertificate, key: clientKey }
}
