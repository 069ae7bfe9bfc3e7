import native from './native-require.cjs'

const { startGlobalServer } = native('./dist/testing.js')

export default function setup() {
  return startGlobalServer()
}
