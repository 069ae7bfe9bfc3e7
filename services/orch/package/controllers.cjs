'use strict'
module.exports = require('./native-require.cjs')('./dist/controllers.js')
