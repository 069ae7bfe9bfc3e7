import { setting, settingTypes } from '@orch/platform'

const { duration, int, path, string } = settingTypes

/** How clients reach a gateway. */
export const servingSettings = {
  securePort: setting({
    flag: '--secure-port',
    env: 'ORCH_SECURE_PORT',
    type: int({ min: 0, max: 65535 }),
    default: '6443',
    group: 'Serving',
    doc: 'Port for HTTPS; 0 takes any free one.',
  }),
  bindAddress: setting({
    flag: '--bind-address',
    env: 'ORCH_BIND_ADDRESS',
    type: string,
    default: '127.0.0.1',
    group: 'Serving',
    doc: 'Address to listen on; 0.0.0.0 or :: for all.',
  }),
  pathPrefix: setting({
    flag: '--path-prefix',
    env: 'ORCH_PATH_PREFIX',
    type: path,
    default: '',
    group: 'Serving',
    doc: 'Path below which everything is served, such as /cluster-a.',
  }),
  tlsCertFile: setting({
    flag: '--tls-cert-file',
    env: 'ORCH_TLS_CERT_FILE',
    type: path,
    default: '',
    group: 'Serving',
    doc: 'Certificate to serve with, followed by those that signed it; without it one is made.',
  }),
  tlsPrivateKeyFile: setting({
    flag: '--tls-private-key-file',
    env: 'ORCH_TLS_PRIVATE_KEY_FILE',
    type: path,
    default: '',
    group: 'Serving',
    doc: 'Private key that belongs to --tls-cert-file.',
  }),
  requestTimeoutMs: setting({
    flag: '--request-timeout',
    env: 'ORCH_REQUEST_TIMEOUT',
    type: duration,
    default: '60s',
    group: 'Serving',
    doc: 'Longest a request may take, watches aside.',
  }),
  shutdownDelayMs: setting({
    flag: '--shutdown-delay-duration',
    env: 'ORCH_SHUTDOWN_DELAY_DURATION',
    type: duration,
    default: '0s',
    group: 'Serving',
    doc: 'How long the server goes on after a signal to stop, with /readyz failing, before it takes no more connections.',
  }),
}
