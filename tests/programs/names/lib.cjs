(function (root) {
  function hidden(a) {
    return a + 1;
  }
  root.exported = (a) => hidden(a);
  exports.assigned = function (a) {
    return a + 2;
  };
})(exports);
